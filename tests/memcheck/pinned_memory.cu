#include "memcheck.h"

__global__ void fill(int *data) {
    data[threadIdx.x] = 7; //~ ERROR out-of-bounds
}

int main() {
    int *data;
    OK(cudaMallocHost(&data, 60 * sizeof(int)));
    fill<<<1, WRONG_OR_RIGHT(64, 60)>>>(data);
    return finish();
}
