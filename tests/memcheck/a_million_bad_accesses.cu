#include "memcheck.h"


__global__ void fill(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    if (i < n)
#endif
    data[i] = i; //~ ERROR out-of-bounds
}

int main() {
    fill<<<4096, 256>>>(device<int>(64), 64);
    return finish();
}
