#include "memcheck.h"

__global__ void write(int **data) {
    (*data)[threadIdx.x] = 1; //~ ERROR use-after-free
}

int main() {
    int *data = device<int>(64), **pointer = device<int *>(1);
    OK(cudaMemcpy(pointer, &data, sizeof data, cudaMemcpyHostToDevice));
    #ifndef FIXED
    OK(cudaFree(data));
    #endif
    write<<<1, 64>>>(pointer);
    return finish();
}
