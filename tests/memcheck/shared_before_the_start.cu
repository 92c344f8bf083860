#include "memcheck.h"

__global__ void smooth(int *data) {
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = data[i];
    __syncthreads();
    int left = WRONG_OR_RIGHT(i - 1, i == 0 ? 0 : i - 1);
    data[i] = tile[left] + tile[i]; //~ ERROR shared-out-of-bounds
}

int main() {
    smooth<<<1, 64>>>(device<int>(64));
    return finish();
}
