#include "memcheck.h"

__global__ void sum(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x + WRONG_OR_RIGHT(1, 0)]; //~ ERROR out-of-bounds
}

int main() {
    sum<<<1, 64>>>(device<int>(64), device<int>(64));
    return finish();
}
