//@ exit: 0
//@ flags: --caches
#include "../memcheck/memcheck.h"

// A tile of which each thread reads the word that it has stored: a register would do. Repaired, each thread reads those of its
// neighbours, too, so that a word is loaded once and read three times.
__global__ void through_shared(float *to, const float *from) {
    __shared__ float tile[66];
    int i = blockIdx.x * 64 + threadIdx.x, at = threadIdx.x + 1;
    tile[at] = from[i + 1]; //~ ERROR read-once
#ifdef FIXED
    if (threadIdx.x < 1) {
        tile[0] = from[i];
        tile[65] = from[i + 65];
    }
#endif
    __syncthreads();
    to[i] = WRONG_OR_RIGHT(tile[at] * 2, tile[at - 1] + tile[at] + tile[at + 1]);
}

int main() {
    through_shared<<<4, 64>>>(device<float>(256), device<float>(258));
    return finish();
}
