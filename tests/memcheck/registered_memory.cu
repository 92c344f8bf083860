#include "memcheck.h"

__global__ void fill(int *data) {
    data[threadIdx.x] = 7; //~ ERROR out-of-bounds
}

int main() {
    static int memory[100];
    int *data;
    OK(cudaHostRegister(memory, 60 * sizeof(int), cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&data, memory, 0));
    fill<<<1, WRONG_OR_RIGHT(64, 60)>>>(data);
    return finish();
}
