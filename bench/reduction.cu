#include "bench.h"

#if defined(__CUDACC__)

__global__ void sum(const float *in, float *out, int n) {
    __shared__ float partial[256];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += in[i];
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

#elif !defined(OPENCL)

static void sum(Block block, const float *in, float *out, int n) {
    float partial[256] = {};
    for (int start = block.x * 256; start < n; start += block.grid.x * 256)
#pragma omp simd
        for (int thread = 0; thread < 256; thread++)
            partial[thread] += in[start + thread];
    for (int half = 128; half > 0; half /= 2)
#pragma omp simd
        for (int thread = 0; thread < half; thread++)
            partial[thread] += partial[thread + half];
    out[block.x] = partial[0];
}

#endif

int main() {
    const int n = 1 << 22, blocks = 128;
    auto in = numbers(n);
    std::vector<double> expected(1);
    for (float value : in)
        expected[0] += value;
    Buffer<float> device_in(in), device_out(blocks);
    measure([&] {}, [&] { LAUNCH(sum, blocks, 256, device_in, device_out, n); },
            [&] {
                std::vector<double> found(1);
                for (float value : device_out.read())
                    found[0] += value;
                expect("the sum", found, expected, 1e-5);
            });
}
