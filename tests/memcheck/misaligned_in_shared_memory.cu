#include "memcheck.h"

__global__ void write(int offset, int *out) {
    __shared__ char memory[64];
    *(int *)(memory + offset) = 1; //~ ERROR misaligned
    __syncthreads();
    *out = memory[8];
}

int main() {
    write<<<1, 1>>>(WRONG_OR_RIGHT(7, 8), device<int>(1));
    return finish();
}
