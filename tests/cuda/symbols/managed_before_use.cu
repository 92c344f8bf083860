// A managed variable can be read and written by the host before anything else was done with CUDA.

#include "../expect.h"

__managed__ int numbers[3] = {1, 2, 3};
__managed__ int *pointer;

__global__ void add() { numbers[threadIdx.x] += *pointer; }

int main() {
    CHECK(numbers[0] == 1 && numbers[2] == 3);
    numbers[1] = 20;
    OK(cudaMallocManaged(&pointer, sizeof(int)));
    *pointer = 100;
    add<<<1, 3>>>();
    OK(cudaDeviceSynchronize());
    CHECK(numbers[0] == 101 && numbers[1] == 120 && numbers[2] == 103);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, numbers));
    CHECK(attributes.type == cudaMemoryTypeManaged);
    return done();
}
