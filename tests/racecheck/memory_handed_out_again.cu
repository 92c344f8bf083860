#include "../memcheck/memcheck.h"

// What a thread gets from the heap, another one may have had before.
__global__ void of_threads(int *sums) {
    for (int round = 0; round < 4; round++) {
        int *numbers = new int[8], sum = 0;
        for (int i = 0; i < 8; i++)
            numbers[i] = threadIdx.x + i + round;
        for (int i = 0; i < 8; i++)
            sum += numbers[i];
        sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
        delete[] numbers;
    }
}

__global__ void of_blocks(int *out) {
    __shared__ int *numbers;
    if (threadIdx.x == 0)
        numbers = (int *)malloc(64 * sizeof(int));
    __syncthreads();
    numbers[WRONG_OR_RIGHT(threadIdx.x / 33, threadIdx.x)] = threadIdx.x; //~ ERROR data-race
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = numbers[63 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        free(numbers);
}

__global__ void fill(int *data, int value) { data[threadIdx.x] = data[threadIdx.x] % 3 + value; }

int main() {
    of_threads<<<4, 64>>>(device<int>(256));
    of_blocks<<<4, 64>>>(device<int>(256));
    OK(cudaDeviceSynchronize());

    // What one stream has given back, another one may get.
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams) {
        int *data;
        OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        OK(cudaMallocAsync(&data, 256, stream));
        fill<<<1, 64, 0, stream>>>(data, 1);
        OK(cudaFreeAsync(data, stream));
    }
    return finish();
}
