#include "bench.h"

const int TILE = 16;

#if defined(__CUDACC__)

__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

#elif !defined(OPENCL)

static void multiply(Block block, const float *a, const float *b, float *c, int n) {
    float tile_a[TILE][TILE], tile_b[TILE][TILE], sum[TILE][TILE] = {};
    for (int k = 0; k < n; k += TILE) {
        for (int y = 0; y < TILE; y++)
#pragma omp simd
            for (int x = 0; x < TILE; x++) {
                tile_a[y][x] = a[(block.y * TILE + y) * n + k + x];
                tile_b[y][x] = b[(k + y) * n + block.x * TILE + x];
            }
        for (int y = 0; y < TILE; y++)
            for (int i = 0; i < TILE; i++)
#pragma omp simd
                for (int x = 0; x < TILE; x++)
                    sum[y][x] += tile_a[y][i] * tile_b[i][x];
    }
    for (int y = 0; y < TILE; y++)
#pragma omp simd
        for (int x = 0; x < TILE; x++)
            c[(block.y * TILE + y) * n + block.x * TILE + x] = sum[y][x];
}

#endif

int main() {
    const int n = 256;
    auto a = numbers(n * n), b = numbers(n * n, 7);
    std::vector<double> expected(n * n);
    for (int y = 0; y < n; y++)
        for (int k = 0; k < n; k++)
            for (int x = 0; x < n; x++)
                expected[y * n + x] += double(a[y * n + k]) * b[k * n + x];
    Buffer<float> device_a(a), device_b(b), device_c(n * n);
    dim3 grid(n / TILE, n / TILE), block(TILE, TILE);
    measure([&] {}, [&] { LAUNCH(multiply, grid, block, device_a, device_b, device_c, n); },
            [&] { expect("c", device_c.read(), expected, 1e-5); });
}
