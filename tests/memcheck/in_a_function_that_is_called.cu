#include "memcheck.h"

__device__ __noinline__ void store(int *data, int i, int value) {
    data[i] = value; //~ ERROR out-of-bounds
}

__global__ void fill(int *data) {
    store(data, threadIdx.x + WRONG_OR_RIGHT(1, 0), 7);
}

int main() {
    fill<<<1, 64>>>(device<int>(64));
    return finish();
}
