// One workload by one system, see `main`. Prints what came of it as JSON.

#include "systems.cuh"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    printf("{\"error\": \"%s\"}\n", cudaGetErrorName(error));
    exit(1);
}

/// Each transaction moves one from an account to another.
template <class System> __device__ void transfer(int *account, int size, int rounds, unsigned long long *attempts) {
    unsigned random = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345;
    unsigned long long tried = 0;
    for (int round = 0; round < rounds; round++) {
        random = random * 1664525u + 1013904223u;
        const int from = (random >> 8) % size;
        random = random * 1664525u + 1013904223u;
        const int to = (from + 1 + (random >> 8) % (size - 1)) % size;
        int *const keys[2] = {&account[from], &account[to]};
        System t;
        do {
            tried++;
            int a, b;
            t.begin(keys, 2);
            if (!t.read(keys[0], a) || !t.read(keys[1], b)) continue;
            t.write(keys[0], a - 1);
            t.write(keys[1], b + 1);
        } while (!t.commit());
    }
    atomicAdd(attempts, tried);
}

/// Of each warp, so many lanes take part.
template <class System>
__global__ void bank(int *account, int size, int rounds, unsigned long long *attempts, int lanes) {
    if (threadIdx.x % 32 < lanes) transfer<System>(account, size, rounds, attempts);
}

/// The same, while the first thread of the first block adds up all accounts, again and again: each sum must be 0.
template <class System>
__global__ void audited_bank(int *account, int size, int rounds, unsigned long long *attempts, int audits, unsigned long long *odd) {
    if (blockIdx.x != 0 || threadIdx.x >= 32) {
        transfer<System>(account, size, rounds, attempts);
        return;
    }
    if (threadIdx.x != 0) return;
    for (int audit = 0; audit < audits && rounds > 0; audit++) {
        System t;
        long long sum;
        do {
            t.begin(nullptr, 0);
            sum = 0;
            int value;
            bool goes_on = true;
            for (int i = 0; i < size && goes_on; i++) {
                goes_on = t.read(&account[i], value);
                sum += value;
            }
        } while (!t.commit());
        if (sum != 0) atomicAdd(odd, 1ull);
    }
}

/// How many bytes of the address are under one lock, by linear search, as in the thesis.
__device__ __noinline__ unsigned shift_by_linear_search(unsigned long long address) {
    using namespace warpgrind::tx_detail;
    for (u32 i = 0; i < state.region_count; i++) {
        if (address >= state.regions[i].begin && address < state.regions[i].end) return state.regions[i].shift;
    }
    return DEFAULT_SHIFT;
}

/// Finds regions, and nothing else.
template <bool IsLinear> __global__ void look_up(int *memory, int size, int rounds, unsigned long long *sum) {
    unsigned random = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345;
    unsigned shifts = 0;
    for (int round = 0; round < rounds; round++) {
        random = random * 1664525u + 1013904223u;
        const auto address = reinterpret_cast<unsigned long long>(memory + (random >> 8) % size);
        shifts += IsLinear ? shift_by_linear_search(address) : warpgrind::tx_detail::shift_in_region(address);
    }
    atomicAdd(sum, shifts);
}

const int REQUESTS = 16;

/// Each transaction reads 16 records, and increments those whose keys are marked.
template <class System> __global__ void ycsb(int *record, const unsigned *requests, int rounds, unsigned long long *attempts) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long tried = 0;
    for (int round = 0; round < rounds; round++) {
        const unsigned *mine = requests + (thread * (unsigned long long)rounds + round) * REQUESTS;
        int *keys[REQUESTS];
        for (int i = 0; i < REQUESTS; i++) keys[i] = &record[mine[i] >> 1];
        System t;
        do {
            tried++;
            t.begin(keys, REQUESTS);
            bool goes_on = true;
            for (int i = 0; i < REQUESTS && goes_on; i++) {
                int value;
                goes_on = t.read(keys[i], value) && (mine[i] % 2 == 0 || t.write(keys[i], value + 1));
            }
        } while (!t.commit());
    }
    atomicAdd(attempts, tried);
}

/// Numbers below `size` with the distribution of Zipf (Gray et al., SIGMOD 1994).
struct Zipf {
    double theta, alpha, zeta, eta;
    unsigned size, state = 1;
    Zipf(unsigned size, double theta) : theta(theta), size(size) {
        zeta = 0;
        for (unsigned i = 1; i <= size; i++) zeta += std::pow(1.0 / i, theta);
        alpha = 1 / (1 - theta);
        eta = (1 - std::pow(2.0 / size, 1 - theta)) / (1 - (1 + std::pow(0.5, theta)) / zeta);
    }
    double uniform() {
        state = state * 1664525u + 1013904223u;
        return (state >> 4) / double(1 << 28);
    }
    unsigned next() {
        const double u = uniform(), uz = u * zeta;
        const unsigned rank = uz < 1 ? 0 : uz < 1 + std::pow(0.5, theta) ? 1 : unsigned(size * std::pow(eta * u - eta + 1, alpha));
        // Neighbours in rank are not neighbours in memory.
        return rank * 2654435761ull % size;
    }
};

/// How our memory is divided, if that is asked for.
static int bytes_per_lock, regions, lanes, audits;

template <class System> void run(const std::string &workload, int blocks, int threads, int rounds, int size, double theta) {
    int *memory;
    unsigned long long *attempts, *odd;
    check(cudaMallocManaged(&odd, sizeof *odd));
    *odd = 0;
    check(cudaMallocManaged(&memory, size * sizeof(int)));
    check(cudaMallocManaged(&attempts, sizeof *attempts));
    for (int i = 0; i < size; i++) memory[i] = 0;
    *attempts = 0;
    for (int i = 0; i < regions && bytes_per_lock != 0; i++) {
        const int begin = (long long)size * i / regions / 16 * 16, end = (long long)size * (i + 1) / regions / 16 * 16;
        check(warpgrind::set_granularity(memory + begin, (end - begin) * sizeof(int), bytes_per_lock));
    }
    const bool is_audited = workload == "audit";
    const unsigned long long transactions = 1ull * (blocks * threads - (is_audited ? 32 : 0)) * lanes / 32 * rounds;
    long long wanted = 0;
    unsigned *requests = nullptr;
    if (workload == "ycsb") {
        Zipf zipf(size, theta);
        check(cudaMallocManaged(&requests, transactions * REQUESTS * sizeof(unsigned)));
        for (unsigned long long i = 0; i < transactions * REQUESTS; i++) {
            const bool writes = zipf.uniform() < 0.1;
            requests[i] = zipf.next() << 1 | writes;
            wanted += writes;
        }
    }
    // The first launch compiles.
    for (int launch = 0; launch < 2; launch++) {
        const int times = launch == 0 ? 0 : rounds;
        const auto start = std::chrono::steady_clock::now();
        if (workload == "ycsb") {
            ycsb<System><<<blocks, threads>>>(memory, requests, times, attempts);
        } else if (is_audited) {
            audited_bank<System><<<blocks, threads>>>(memory, size, times, attempts, audits, odd);
        } else if (workload == "linear") {
            look_up<true><<<blocks, threads>>>(memory, size, times, attempts);
        } else if (workload == "binary") {
            look_up<false><<<blocks, threads>>>(memory, size, times, attempts);
        } else {
            bank<System><<<blocks, threads>>>(memory, size, times, attempts, lanes);
        }
        check(cudaDeviceSynchronize());
        if (launch == 0) continue;
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        long long sum = 0;
        for (int i = 0; i < size; i++) sum += memory[i];
        printf("{\"transactions\": %llu, \"aborts\": %llu, \"seconds\": %.6f, \"lost\": %lld, \"odd\": %llu}\n", transactions,
               *attempts - transactions, seconds, wanted - sum, *odd);
    }
}

int main(int argc, char **argv) {
    if (argc < 8 || argc > 12) {
        fprintf(stderr, "study SYSTEM bank|audit|ycsb|linear|binary BLOCKS THREADS ROUNDS SIZE THETA "
                        "[BYTES_PER_LOCK [REGIONS [LANES [AUDITS]]]]\n");
        return 2;
    }
    bytes_per_lock = argc > 8 ? atoi(argv[8]) : 0;
    regions = argc > 9 ? atoi(argv[9]) : 1;
    lanes = argc > 10 ? atoi(argv[10]) : 32;
    audits = argc > 11 ? atoi(argv[11]) : 0;
    const std::string system = argv[1], workload = argv[2];
    const int blocks = atoi(argv[3]), threads = atoi(argv[4]), rounds = atoi(argv[5]), size = atoi(argv[6]);
    const double theta = atof(argv[7]);
    if (system == "global") run<GlobalLock>(workload, blocks, threads, rounds, size, theta);
    if (system == "ordered") run<OrderedLocks>(workload, blocks, threads, rounds, size, theta);
    if (system == "pr-stm") run<PublishedPriorityRule>(workload, blocks, threads, rounds, size, theta);
    if (system == "seed") run<Seed>(workload, blocks, threads, rounds, size, theta);
    if (system == "gpu-stm") run<SortedLocks>(workload, blocks, threads, rounds, size, theta);
    if (system == "estm") run<EagerUndo>(workload, blocks, threads, rounds, size, theta);
    if (system == "istm") run<InvisibleUndo>(workload, blocks, threads, rounds, size, theta);
    if (system == "pstm") run<OwnedWords>(workload, blocks, threads, rounds, size, theta);
    if (system == "warpgrind") run<Warpgrind>(workload, blocks, threads, rounds, size, theta);
}
