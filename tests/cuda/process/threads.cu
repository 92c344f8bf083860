// Eight threads of the host launch kernels, copy and allocate at once; each has its own last error.
//@ variants: static shared ptds clang

#include "../expect.h"
#include <thread>
#include <vector>

__global__ void add(int *cells, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) cells[i] += value;
}

static void work(int number, int *wrong) {
    const int n = 1000;
    int *cells, host[n];
    cudaStream_t stream;
    *wrong += cudaMalloc(&cells, sizeof host) != cudaSuccess;
    *wrong += cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess;
    *wrong += cudaMemsetAsync(cells, 0, sizeof host, stream) != cudaSuccess;
    for (int round = 0; round < 20; round++) add<<<4, 256, 0, stream>>>(cells, n, number);
    *wrong += cudaGetLastError() != cudaSuccess;
    *wrong += cudaMemcpyAsync(host, cells, sizeof host, cudaMemcpyDeviceToHost, stream) != cudaSuccess;
    *wrong += cudaStreamSynchronize(stream) != cudaSuccess;
    for (int value : host) *wrong += value != 20 * number;
    if (number % 2) {
        cudaSetDevice(99);
        *wrong += cudaPeekAtLastError() != cudaErrorInvalidDevice;
    } else {
        *wrong += cudaPeekAtLastError() != cudaSuccess;
    }
    *wrong += cudaFree(cells) != cudaSuccess;
    *wrong += cudaStreamDestroy(stream) != cudaSuccess;
}

int main() {
    std::vector<std::thread> threads;
    int wrong[8] = {};
    for (int i = 0; i < 8; i++) threads.emplace_back(work, i + 1, wrong + i);
    for (std::thread &thread : threads) thread.join();
    for (int each : wrong) CHECK(each == 0);
    OK(cudaGetLastError());
    return done();
}
