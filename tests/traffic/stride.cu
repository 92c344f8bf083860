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

int main() {
    sum_of_rows<<<2, 64>>>(device<float>(128), device<float>(128 * 33));
    return finish();
}
