#include "bench.h"

// Sums of all values before each, in blocks of 512 by a tree, then by the sums of blocks.
#if defined(__CUDACC__)

__global__ void scan(const int *in, int *out, int *sums) {
    __shared__ int tree[512];
    int thread = threadIdx.x, start = blockIdx.x * 512;
    tree[thread] = in[start + thread];
    tree[thread + 256] = in[start + thread + 256];
    for (int distance = 1; distance < 512; distance *= 2) {
        __syncthreads();
        int i = (thread + 1) * distance * 2 - 1;
        if (i < 512)
            tree[i] += tree[i - distance];
    }
    __syncthreads();
    if (thread == 0) {
        sums[blockIdx.x] = tree[511];
        tree[511] = 0;
    }
    for (int distance = 256; distance > 0; distance /= 2) {
        __syncthreads();
        int i = (thread + 1) * distance * 2 - 1;
        if (i < 512) {
            int left = tree[i - distance];
            tree[i - distance] = tree[i];
            tree[i] += left;
        }
    }
    __syncthreads();
    out[start + thread] = tree[thread];
    out[start + thread + 256] = tree[thread + 256];
}

__global__ void add(int *out, const int *before) {
    out[blockIdx.x * 512 + threadIdx.x] += before[blockIdx.x];
    out[blockIdx.x * 512 + threadIdx.x + 256] += before[blockIdx.x];
}

#elif !defined(OPENCL)

static void scan(Block block, const int *in, int *out, int *sums) {
    int tree[512];
    std::copy(in + block.x * 512, in + block.x * 512 + 512, tree);
    for (int distance = 1; distance < 512; distance *= 2)
#pragma omp simd
        for (int i = distance * 2 - 1; i < 512; i += distance * 2)
            tree[i] += tree[i - distance];
    sums[block.x] = tree[511];
    tree[511] = 0;
    for (int distance = 256; distance > 0; distance /= 2)
#pragma omp simd
        for (int i = distance * 2 - 1; i < 512; i += distance * 2) {
            int left = tree[i - distance];
            tree[i - distance] = tree[i];
            tree[i] += left;
        }
    std::copy(tree, tree + 512, out + block.x * 512);
}

static void add(Block block, int *out, const int *before) {
#pragma omp simd
    for (int i = block.x * 512; i < block.x * 512 + 512; i++)
        out[i] += before[block.x];
}

#endif

int main() {
    const int blocks = 512, n = blocks * 512;
    std::vector<int> in(n), expected(n);
    for (int i = 0, sum = 0; i < n; i++) {
        in[i] = int(number(i) * 1000);
        expected[i] = sum;
        sum += in[i];
    }
    Buffer<int> device_in(in), out(n), sums(blocks), before(blocks), total(1);
    auto all = [&] {
        LAUNCH(scan, blocks, 256, device_in, out, sums);
        LAUNCH(scan, 1, 256, sums, before, total);
        LAUNCH(add, blocks, 256, out, before);
    };
    measure([&] {}, all, [&] { expect("sums", out.read(), expected); });
}
