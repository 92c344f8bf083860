#include "memcheck.h"

__device__ int first[64], second[64];

__global__ void write(int n) {
    first[n] = 1; //~ ERROR wrong-allocation
    second[0] = 2;
}

int main() {
    write<<<1, 1>>>(WRONG_OR_RIGHT(64, 63));
    return finish();
}
