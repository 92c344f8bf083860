//@ exit: 0
#include "../memcheck/memcheck.h"

// Lanes that are 33 words apart: the loops are the wrong way round.
__global__ void sum_of_rows(float *to, const float *from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 33; ++k)
        sum += from[WRONG_OR_RIGHT(i * 33 + k, k * 128 + i)]; //~ ERROR uncoalesced
    to[i] = sum;
}

// One lane of each warp: a request moves one sector, and cannot do with less.
__global__ void first_of_warp(float *to) {
    if (threadIdx.x % 32 == 0)
        to[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main() {
    first_of_warp<<<2, 64>>>(device<float>(128));
    sum_of_rows<<<2, 64>>>(device<float>(128), device<float>(128 * 33));
    return finish();
}
