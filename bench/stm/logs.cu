// Where a transaction has its log: fills it, looks every entry up, and empties it, as an attempt does with what it reads. Prints
// what came of it as JSON.
//
//     logs LAYOUT BLOCKS THREADS ROUNDS ENTRIES
//
// The layouts that the thesis compares are `static` (an array of each thread), `heap` (an array of the device heap for each
// transaction) and `list` (an allocation of the device heap for each entry). `interleaved` has entry i of all threads of the
// grid side by side in global memory, and `warp` those of a warp.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <cuda_runtime.h>

typedef unsigned long long word;

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    printf("{\"error\": \"%s\"}\n", cudaGetErrorName(error));
    exit(1);
}

const int MOST = 64;

struct alignas(16) Entry {
    word address, version;
};

struct StaticLog {
    Entry entries[MOST];
    __device__ StaticLog(Entry *, int) {}
    __device__ bool open(int) { return true; }
    __device__ bool add(int i, Entry entry) {
        entries[i] = entry;
        return true;
    }
    __device__ Entry get(int i) const { return entries[i]; }
    __device__ void close(int) {}
};

struct HeapLog {
    Entry *entries;
    __device__ HeapLog(Entry *, int) {}
    __device__ bool open(int most) {
        entries = static_cast<Entry *>(malloc(most * sizeof(Entry)));
        return entries != nullptr;
    }
    __device__ bool add(int i, Entry entry) {
        entries[i] = entry;
        return true;
    }
    __device__ Entry get(int i) const { return entries[i]; }
    __device__ void close(int) { free(entries); }
};

struct ListLog {
    struct Node {
        Entry entry;
        Node *next;
    };
    Node *first, *last, *at;
    __device__ ListLog(Entry *, int) {}
    __device__ bool open(int) {
        first = last = nullptr;
        return true;
    }
    __device__ bool add(int, Entry entry) {
        Node *node = static_cast<Node *>(malloc(sizeof(Node)));
        if (node == nullptr) return false;
        node->entry = entry;
        node->next = nullptr;
        (last == nullptr ? first : last->next) = node;
        last = node;
        return true;
    }
    __device__ Entry get(int i) {
        at = i == 0 ? first : at->next;
        return at->entry;
    }
    __device__ void close(int) {
        while (first != nullptr) {
            Node *next = first->next;
            free(first);
            first = next;
        }
    }
};

/// Entries of threads side by side: of the grid, or of a warp.
template <bool OfWarp> struct ArenaLog {
    Entry *entries;
    int stride;
    __device__ ArenaLog(Entry *arena, int most) {
        const int thread = blockIdx.x * blockDim.x + threadIdx.x;
        entries = OfWarp ? arena + (size_t)(thread / 32) * 32 * most + thread % 32 : arena + thread;
        stride = OfWarp ? 32 : gridDim.x * blockDim.x;
    }
    __device__ bool open(int) { return true; }
    __device__ bool add(int i, Entry entry) {
        entries[(size_t)i * stride] = entry;
        return true;
    }
    __device__ Entry get(int i) const { return entries[(size_t)i * stride]; }
    __device__ void close(int) {}
};

template <class Log> __global__ void use(Entry *arena, int most, int rounds, word *sum, unsigned *failed) {
    Log log(arena, most);
    word seen = 0;
    for (int round = 0; round < rounds; round++) {
        if (!log.open(most)) {
            atomicAdd(failed, 1);
            continue;
        }
        int count = 0;
        while (count < most && log.add(count, Entry{word(count * 8), word(round)})) count++;
        if (count < most) atomicAdd(failed, 1);
        for (int i = 0; i < count; i++) {
            const Entry entry = log.get(i);
            seen += entry.address + entry.version;
        }
        log.close(count);
    }
    atomicAdd(sum, seen);
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "logs static|heap|list|interleaved|warp BLOCKS THREADS ROUNDS ENTRIES\n");
        return 2;
    }
    const std::string layout = argv[1];
    const int blocks = atoi(argv[2]), threads = atoi(argv[3]), rounds = atoi(argv[4]), most = atoi(argv[5]);
    if (most < 1 || most > MOST) return 2;
    Entry *arena;
    word *sum;
    unsigned *failed;
    check(cudaMalloc(&arena, sizeof(Entry) * blocks * threads * most));
    check(cudaMallocManaged(&sum, sizeof *sum));
    check(cudaMallocManaged(&failed, sizeof *failed));
    *sum = 0;
    *failed = 0;
    // The first launch compiles.
    for (int launch = 0; launch < 2; launch++) {
        const int times = launch == 0 ? 0 : rounds;
        const auto start = std::chrono::steady_clock::now();
        if (layout == "static") use<StaticLog><<<blocks, threads>>>(arena, most, times, sum, failed);
        if (layout == "heap") use<HeapLog><<<blocks, threads>>>(arena, most, times, sum, failed);
        if (layout == "list") use<ListLog><<<blocks, threads>>>(arena, most, times, sum, failed);
        if (layout == "interleaved") use<ArenaLog<false>><<<blocks, threads>>>(arena, most, times, sum, failed);
        if (layout == "warp") use<ArenaLog<true>><<<blocks, threads>>>(arena, most, times, sum, failed);
        check(cudaDeviceSynchronize());
        if (launch == 0) continue;
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        printf("{\"transactions\": %d, \"seconds\": %.6f, \"failed\": %u, \"sum\": %llu}\n", blocks * threads * rounds, seconds,
               *failed, *sum);
    }
}
