// Races that public projects had and fixed, reduced to what raced; the repaired version orders them as the fix did.
#include "../memcheck/memcheck.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define IF_RIGHT(statement) if (WRONG_OR_RIGHT(false, true)) statement

// NVIDIA/cccl pull request 399: a warp scatters into memory in which another one still reads the sums of all warps.
__global__ void run_lengths(const int *in, int *out) {
    __shared__ union {
        int sums[4];
        int scattered[128];
    } memory;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = in[threadIdx.x];
    for (int distance = 1; distance < 32; distance *= 2) {
        int before = __shfl_up_sync(~0u, sum, distance);
        if (lane >= distance) sum += before;
    }
    if (lane == 31) memory.sums[warp] = sum;
    __syncthreads();
    int before = 0, total = 0;
    for (int other = 0; other < 4; other++) {
        if (other == warp) before = total;
        total += memory.sums[other]; //~ ERROR data-race
    }
    IF_RIGHT(__syncthreads());
    memory.scattered[threadIdx.x] = before + sum + total; //~ ERROR warp-synchrony
    __syncthreads();
    out[threadIdx.x] = memory.scattered[127 - threadIdx.x];
}

// NVIDIA/cuCollections pull request 337: the counter of a warp is set to zero by one lane, and counted up by others.
__global__ void retrieve(const int *keys, int n, int *out, int *size) {
    __shared__ int found[4][64], counts[4];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int *count = &counts[threadIdx.x / 32], *mine = found[threadIdx.x / 32];
    if (tile.thread_rank() == 0) *count = 0;
    IF_RIGHT(tile.sync());
    for (int i = threadIdx.x; tile.any(i < n); i += 128) {
        if (i < n) mine[atomicAdd(count, 1)] = keys[i]; //~ ERROR warp-synchrony
        IF_RIGHT(tile.sync());
        if (*count > 31) { //~ ERROR warp-synchrony
            int end = *count, at = 0;
            if (tile.thread_rank() == 0) at = atomicAdd(size, end);
            at = tile.shfl(at, 0);
            for (int k = tile.thread_rank(); k < end; k += 32) out[at + k] = mine[k];
            IF_RIGHT(tile.sync());
            if (tile.thread_rank() == 0) *count = 0; //~ ERROR warp-synchrony
        }
        IF_RIGHT(tile.sync());
    }
}

// NVIDIA/cudf pull request 4199: a barrier of the warp where the threads of the block share.
__global__ void copy_in_pieces(const int *in, int *out, int n) {
    __shared__ int piece[128];
    for (int at = 0; at < n; at += 128) {
        piece[threadIdx.x] = in[at + threadIdx.x]; //~ ERROR data-race
        WRONG_OR_RIGHT(__syncwarp(), __syncthreads());
        out[at + threadIdx.x] = piece[127 - threadIdx.x]; //~ ERROR data-race
        WRONG_OR_RIGHT(__syncwarp(), __syncthreads());
    }
}

// ggml-org/llama.cpp pull request 13294: the ids of the next tile overwrite those by which warps still store.
__global__ void tiles_of_ids(const int *ids, float *out, int tiles) {
    __shared__ int where[64];
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (threadIdx.x < 64) where[threadIdx.x] = ids[tile * 64 + threadIdx.x] + tile * 64 + threadIdx.x;
        __syncthreads();
        if (threadIdx.x >= 64) out[where[127 - threadIdx.x]] = tile; //~ ERROR data-race
        IF_RIGHT(__syncthreads());
    }
}

// ggml-org/llama.cpp pull request 24360: the inputs of the next step overwrite those that other warps still read.
__global__ void state_space(const float *in, float *out, int steps) {
    __shared__ float inputs[16];
    float state[16] = {};
    for (int step = 0; step < steps; step++) {
        if (threadIdx.x < 16) inputs[threadIdx.x] = in[step * 16 + threadIdx.x]; //~ ERROR warp-synchrony
        __syncthreads();
        float sum = 0;
        for (int i = 0; i < 16; i++) {
            state[i] = state[i] * 0.5f + inputs[i]; //~ ERROR data-race
            sum += state[i];
        }
        out[step * 128 + threadIdx.x] = sum;
        IF_RIGHT(__syncthreads());
    }
}

// ggml-org/llama.cpp pull request 28475: lanes read what others have put into a list; votes between order no memory.
__global__ void ids_of_expert(const int *ids, int n, int expert, int *out) {
    extern __shared__ int list[];
    int lane = threadIdx.x, size = 0;
    for (int i = lane; i < n; i += 32) {
        bool is_mine = ids[i] == expert;
        unsigned mine = __ballot_sync(~0u, is_mine);
        if (is_mine) list[size + __popc(mine & ((1u << lane) - 1))] = i;
        size += __popc(mine);
    }
    IF_RIGHT(__syncwarp());
    for (int k = lane; k < size; k += 32) out[k] = list[size - 1 - k]; //~ ERROR warp-synchrony
}

// alicevision/popsift pull request 82: a histogram is set to zero and counted in without a barrier between.
__global__ void orientations(const float *weights, float *out) {
    __shared__ float histogram[36];
    __shared__ int total;
    for (int i = threadIdx.x; i < 36; i += blockDim.x) histogram[i] = 0; //~ ERROR same-value-race
    if (threadIdx.x == 0) total = 0;
    IF_RIGHT(__syncthreads());
    atomicAdd(&histogram[(threadIdx.x * 7) % 36], weights[threadIdx.x]); //~ ERROR data-race //~ ERROR warp-synchrony
    __syncthreads();
    int before = total;
    IF_RIGHT(__syncthreads());
    if (threadIdx.x == 31) total += before + 1;
    __syncthreads();
    out[threadIdx.x] = histogram[threadIdx.x % 36] + total;
}

// tpruvot/ccminer pull request 75: levels of a tree, by fewer and fewer lanes of a warp.
__global__ void levels(const unsigned *in, unsigned *out) {
    __shared__ unsigned level[32];
    int lane = threadIdx.x;
    if (lane % 16 == 0) level[lane] = in[lane], level[lane + 8] = in[lane + 1]; //~ ERROR warp-synchrony
    IF_RIGHT(__syncwarp());
    if (lane % 8 == 0) level[lane + 4] = level[lane] ^ 3; //~ ERROR warp-synchrony
    IF_RIGHT(__syncwarp());
    out[lane] = level[lane];
}

// ORNL/HeCBench issue 253: the next tile overwrites the one that other warps still read.
__global__ void surface_elements(const float *in, int n, float *out) {
    __shared__ float tile[64];
    float nearest = 1e20f;
    for (int at = 0; at < n; at += 64) {
        if (threadIdx.x < 64 && at + threadIdx.x < n) tile[threadIdx.x] = in[at + threadIdx.x]; //~ ERROR data-race //~ ERROR warp-synchrony
        __syncthreads();
        for (int i = 0; i < min(64, n - at); i++) nearest = min(nearest, tile[i] * threadIdx.x); //~ ERROR data-race
        IF_RIGHT(__syncthreads());
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = nearest;
}

// ORNL/HeCBench issue 255: the steps of a scan read and write between the same barriers.
__global__ void erosion(const unsigned char *in, unsigned char *out, int n) {
    __shared__ unsigned char line[128];
    line[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int distance = 1; distance < n; distance *= 2) {
        unsigned char value = line[threadIdx.x];
        if (threadIdx.x + distance < n) value = min(value, line[threadIdx.x + distance]);
        IF_RIGHT(__syncthreads());
        line[threadIdx.x] = value; //~ ERROR data-race //~ ERROR warp-synchrony
        __syncthreads();
    }
    out[threadIdx.x] = line[threadIdx.x];
}

// ORNL/HeCBench issue 256: a filter reads what its neighbour writes between the same barriers.
__global__ void sections(const float *in, float *out, int n) {
    __shared__ float results[64];
    results[threadIdx.x] = 0;
    __syncthreads();
    float value = 0;
    for (int i = 0; i < n; i++) {
        value = threadIdx.x == 0 ? in[i] : results[threadIdx.x - 1]; //~ ERROR data-race
        IF_RIGHT(__syncthreads());
        results[threadIdx.x] = 0.5f * value + 1; //~ ERROR warp-synchrony
        __syncthreads();
    }
    out[threadIdx.x] = value;
}

// ORNL/HeCBench issue 261: rows are replaced while other warps still read them.
__global__ void shortest_paths(int *distances) {
    __shared__ int rows[32 * 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int row = warp; row < 32; row += 4) rows[row * 32 + lane] = distances[row * 32 + lane];
    int mine = distances[warp * 32 + lane];
    __syncthreads();
    for (int k = 0; k < 32; k++) mine = min(mine, rows[k * 32 + lane] + k); //~ ERROR data-race
    IF_RIGHT(__syncthreads());
    rows[warp * 32 + lane] = mine; //~ ERROR data-race
    __syncthreads();
    distances[warp * 32 + lane] = rows[(31 - warp) * 32 + lane];
}

int main() {
    run_lengths<<<1, 128>>>(device<int>(128), device<int>(128));
    retrieve<<<1, 128>>>(device<int>(512), 512, device<int>(512), device<int>(1));
    copy_in_pieces<<<1, 128>>>(device<int>(512), device<int>(512), 512);
    tiles_of_ids<<<2, 128>>>(device<int>(512), device<float>(1024), 8);
    state_space<<<1, 128>>>(device<float>(64), device<float>(512), 4);
    ids_of_expert<<<1, 32, 512>>>(device<int>(128), 128, 0, device<int>(128));
    orientations<<<1, 64>>>(device<float>(64), device<float>(64));
    levels<<<1, 32>>>(device<unsigned>(32), device<unsigned>(32));
    surface_elements<<<2, 128>>>(device<float>(200), 200, device<float>(256));
    erosion<<<1, 128>>>(device<unsigned char>(128), device<unsigned char>(128), 128);
    sections<<<1, 64>>>(device<float>(100), device<float>(64), 100);
    shortest_paths<<<1, 128>>>(device<int>(1024));
    return finish();
}
