#include "memcheck.h"

__device__ int table[16];

__global__ void write(int n) {
    table[threadIdx.x] = n; //~ ERROR out-of-bounds
}

int main() {
    write<<<1, WRONG_OR_RIGHT(17, 16)>>>(1);
    return finish();
}
