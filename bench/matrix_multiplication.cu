#include "bench.h"

const int TILE = 16;

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

int main() {
    const int n = 256;
    auto a = numbers(n * n), b = numbers(n * n, 7);
    float *da = to_device(a), *db = to_device(b), *dc = to_device(std::vector<float>(n * n));
    dim3 grid(n / TILE, n / TILE), block(TILE, TILE);
    multiply<<<grid, block>>>(da, db, dc, n);
    auto c = to_host(dc, n * n);
    for (int i = 0; i < n * n; i += 9973) {
        double sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[i / n * n + k] * b[k * n + i % n];
        check(near(c[i], sum), "c");
    }
    measure([&] { multiply<<<grid, block>>>(da, db, dc, n); });
}
