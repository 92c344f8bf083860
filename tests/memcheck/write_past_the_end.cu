#include "memcheck.h"

__global__ void fill(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    if (i < n)
#endif
    out[i] = 1; //~ ERROR out-of-bounds
}

int main() {
    fill<<<2, 64>>>(device<float>(100), 100);
    return finish();
}
