#include "memcheck.h"

__global__ void fill(int *data) {
    data[threadIdx.x] = 7; //~ ERROR out-of-bounds
}

int main() {
    int *data;
    OK(cudaMallocAsync(&data, 60 * sizeof(int), 0));
    fill<<<1, WRONG_OR_RIGHT(64, 60)>>>(data);
    OK(cudaFreeAsync(data, 0));
    return finish();
}
