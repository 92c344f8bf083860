// Workers take many blocks, one after another or several at a time: each gets its own number, shared memory and local
// memory that no other block has written, and all of its threads, however they end.

#include "../expect.h"
#include <cstring>
#include <vector>

__global__ void numbers(uint3 *out) {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    out[block * blockDim.x + threadIdx.x] = blockIdx;
}

// A tree of sums, with barriers; in some blocks, some threads end before the last.
__global__ void sums(const int *in, int *out, int salt) {
    __shared__ int tree[128];
    int thread = threadIdx.x, start = blockIdx.x * 128;
    tree[thread] = in[start + thread];
    tree[thread + 64] = in[start + thread + 64];
    for (int distance = 1; distance < 128; distance *= 2) {
        __syncthreads();
        int i = (thread + 1) * distance * 2 - 1;
        if (i < 128) tree[i] += tree[i - distance];
    }
    __syncthreads();
    if (thread > 40 && blockIdx.x % 4 == 1) return;
    __syncthreads();
    out[start + thread] = tree[thread] + salt;
    out[start + thread + 64] = tree[thread + 64] + blockIdx.x;
}

static void check_numbers(dim3 grid, unsigned threads) {
    unsigned blocks = grid.x * grid.y * grid.z;
    uint3 *out;
    std::vector<uint3> result(blocks * threads);
    OK(cudaMalloc(&out, result.size() * sizeof(uint3)));
    OK(cudaMemset(out, 0xff, result.size() * sizeof(uint3)));
    numbers<<<grid, threads>>>(out);
    OK(cudaMemcpy(result.data(), out, result.size() * sizeof(uint3), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < result.size(); i++) {
        unsigned block = i / threads;
        uint3 wanted = {block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
        CHECK(memcmp(&result[i], &wanted, sizeof wanted) == 0);
    }
    OK(cudaFree(out));
}

int main() {
    check_numbers(dim3(5, 7, 3), 33);
    check_numbers(dim3(1, 1, 300), 64);
    check_numbers(dim3(1000), 1);
    check_numbers(dim3(3, 400, 2), 96);

    const int blocks = 300, count = blocks * 128;
    std::vector<int> in(count), out(count), trees(count);
    for (int i = 0; i < count; i++)
        in[i] = trees[i] = i * 7 % 1000;
    for (int block = 0; block < blocks; block++)
        for (int distance = 1; distance < 128; distance *= 2)
            for (int i = distance * 2 - 1; i < 128; i += distance * 2)
                trees[block * 128 + i] += trees[block * 128 + i - distance];
    int *device_in, *device_out;
    OK(cudaMalloc(&device_in, count * sizeof(int)));
    OK(cudaMalloc(&device_out, count * sizeof(int)));
    OK(cudaMemcpy(device_in, in.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    for (int launch = 0; launch < 60; launch++) {
        int launched = 1 + launch * 37 % blocks;
        OK(cudaMemset(device_out, 0, count * sizeof(int)));
        sums<<<launched, 64>>>(device_in, device_out, launch);
        OK(cudaMemcpy(out.data(), device_out, count * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < count; i++) {
            int block = i / 128, thread = i % 64;
            bool has_run = block < launched && !(thread > 40 && block % 4 == 1);
            CHECK(out[i] == (has_run ? trees[i] + (i % 128 < 64 ? launch : block) : 0));
        }
    }
    return done();
}
