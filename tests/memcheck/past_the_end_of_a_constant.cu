#include "memcheck.h"

__constant__ int weights[5] = {1, 4, 6, 4, 1};

__global__ void blur(int *out) {
    out[threadIdx.x] = weights[threadIdx.x % WRONG_OR_RIGHT(6, 5)]; //~ ERROR out-of-bounds
}

int main() {
    blur<<<1, 32>>>(device<int>(32));
    return finish();
}
