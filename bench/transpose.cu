#include "bench.h"

#if defined(__CUDACC__)

__global__ void transpose(const float *in, float *out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

#elif !defined(OPENCL)

static void transpose(Block block, const float *in, float *out, int n) {
    float tile[32][33];
    for (int y = 0; y < 32; y++)
#pragma omp simd
        for (int x = 0; x < 32; x++)
            tile[y][x] = in[(block.y * 32 + y) * n + block.x * 32 + x];
    for (int y = 0; y < 32; y++)
#pragma omp simd
        for (int x = 0; x < 32; x++)
            out[(block.x * 32 + y) * n + block.y * 32 + x] = tile[x][y];
}

#endif

int main() {
    const int n = 1024;
    auto in = numbers(n * n);
    std::vector<float> expected(n * n);
    for (int i = 0; i < n * n; i++)
        expected[i] = in[i % n * n + i / n];
    Buffer<float> device_in(in), out(n * n);
    dim3 grid(n / 32, n / 32), block(32, 8);
    measure([&] {}, [&] { LAUNCH(transpose, grid, block, device_in, out, n); },
            [&] { expect("elements", out.read(), expected); });
}
