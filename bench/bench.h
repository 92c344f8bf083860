// What the benchmarks share: each runs its kernel for a while, checks the result, and prints how long a launch took.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            printf("%s: %s\n", #call, cudaGetErrorString(error));                                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

template <typename T> T *to_device(const std::vector<T> &host) {
    T *device;
    OK(cudaMalloc(&device, host.size() * sizeof(T)));
    OK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T> std::vector<T> to_host(const T *device, size_t count) {
    std::vector<T> host(count);
    OK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// Numbers that are the same in every run.
inline float number(unsigned i) {
    i = (i ^ 61) ^ (i >> 16);
    i *= 9;
    i ^= i >> 4;
    i *= 0x27d4eb2d;
    i ^= i >> 15;
    return (i & 0xffffff) / float(1 << 24);
}

inline std::vector<float> numbers(size_t count, unsigned seed = 0) {
    std::vector<float> all(count);
    for (size_t i = 0; i < count; i++)
        all[i] = number(i + seed);
    return all;
}

// Launches until a time has passed, at least three times, and prints the shortest launch in seconds.
template <typename Launch> void measure(Launch launch) {
    double limit = getenv("BENCH_SECONDS") ? atof(getenv("BENCH_SECONDS")) : 1;
    launch();
    OK(cudaDeviceSynchronize());
    double best = 1e30, total = 0;
    for (int i = 0; i < 3 || total < limit; i++) {
        auto start = std::chrono::steady_clock::now();
        launch();
        OK(cudaDeviceSynchronize());
        double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        total += seconds;
        best = seconds < best ? seconds : best;
    }
    printf("seconds %.9f\n", best);
}

inline void check(bool is_right, const char *what) {
    if (!is_right) {
        printf("wrong: %s\n", what);
        exit(1);
    }
}

inline bool near(double a, double b, double by = 1e-4) {
    return std::fabs(a - b) <= by * (1 + std::fabs(b));
}
