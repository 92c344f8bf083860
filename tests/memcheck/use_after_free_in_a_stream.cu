#include "memcheck.h"

__global__ void write(int *data) {
    data[threadIdx.x] = 1; //~ ERROR use-after-free
}

int main() {
    int *data;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocAsync(&data, 64 * sizeof(int), stream));
    #ifndef FIXED
    OK(cudaFreeAsync(data, stream));
    #endif
    write<<<1, 64, 0, stream>>>(data);
    return finish();
}
