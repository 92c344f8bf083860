// Launches several kernels before it waits for them. One of them stores where nothing is.

#include <cstdio>
#include <cstdlib>

__global__ void wait(int *cells, int rounds) {
    volatile int *cell = cells;
    for (int i = 0; i < rounds; i++) *cell = *cell + 1;
}

__global__ void add(int *cells, int summand) { cells[threadIdx.x] += summand; }

__global__ void store(int *nowhere) { *nowhere = 1; }

int main() {
    int *cells;
    cudaMalloc(&cells, 64 * sizeof(int));
    cudaMemset(cells, 0, 64 * sizeof(int));
    // While this one runs, all others are asked for.
    wait<<<1, 1>>>(cells, 1 << 22);
    for (int i = 0; i < 20; i++) add<<<1, 64>>>(cells, i);
    if (getenv("FAILS")) store<<<1, 1>>>(nullptr);
    for (int i = 0; i < 20; i++) add<<<1, 64>>>(cells, i);
    cudaError_t error = cudaDeviceSynchronize();
    int results[64] = {};
    cudaError_t copied = cudaMemcpy(results, cells, sizeof results, cudaMemcpyDefault);
    printf("%s %s %d %d\n", cudaGetErrorName(error), cudaGetErrorName(copied), results[0], results[63]);
    return 0;
}
