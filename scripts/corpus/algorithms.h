// What a program needs to run algorithms of CUB and Thrust on arrays that they accept (scripts/library-algorithms).
// The kernels of the algorithms are what is looked at; what they compute is only compared with a run without a tool.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Neither is a multiple of a block, and a segment is a prime number long.
static const int n = 10007, m = 103;

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        std::printf("failed: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

static std::uint32_t random_bits() {
    static std::uint32_t state = 1;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state;
}

// An array on the device, whose elements are given by a function of the index.
struct Place {
    void *device;
    std::size_t bytes;
};
static std::vector<Place> &places() {
    static std::vector<Place> all;
    return all;
}
template <class T, class F> static T *array(std::size_t count, F element) {
    std::vector<unsigned char> host(count * sizeof(T));
    for (std::size_t at = 0; at < count; at++) {
        T value = element(at);
        std::memcpy(&host[at * sizeof(T)], &value, sizeof(T));
    }
    T *device;
    check(cudaMalloc(&device, count * sizeof(T)));
    check(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice));
    places().push_back({device, host.size()});
    return device;
}
template <class T> static T *sorted() {
    return array<T>(n, [](std::size_t at) { return T(at / 3); });
}
template <class T> static T *random_numbers() {
    return array<T>(n, [](std::size_t) { return T(random_bits() % 251); });
}
// Enough for what is made of two arrays.
template <class T> static T *results() {
    return array<T>(2 * n, [](std::size_t at) { return T(at % 7); });
}

// Calls an algorithm as CUB wants it: once to ask for the size of its memory, and once for the result.
template <class F> static void twice(F run) {
    std::size_t bytes = 0;
    check(run(nullptr, bytes));
    void *memory;
    check(cudaMalloc(&memory, bytes));
    check(run(memory, bytes));
    check(cudaFree(memory));
}

// All of it goes to the host, where it must be defined.
static void print_sums() {
    check(cudaDeviceSynchronize());
    for (const Place &place : places()) {
        std::vector<unsigned char> host(place.bytes);
        check(cudaMemcpy(host.data(), place.device, place.bytes, cudaMemcpyDeviceToHost));
        std::uint64_t sum = 14695981039346656037u;
        for (unsigned char byte : host) sum = (sum ^ byte) * 1099511628211u;
        std::printf("%016llx\n", static_cast<unsigned long long>(sum));
        check(cudaFree(place.device));
    }
}
