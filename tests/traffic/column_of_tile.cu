//@ exit: 0
#include "../memcheck/memcheck.h"

// A column of a tile with 32 words in each row is all in one bank.
__global__ void transpose(float *to, const float *from) {
    __shared__ float tile[32][WRONG_OR_RIGHT(32, 33)];
    tile[threadIdx.y][threadIdx.x] = from[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    to[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ ERROR bank-conflict
}

int main() {
    transpose<<<1, dim3(32, 32)>>>(device<float>(1024), device<float>(1024));
    return finish();
}
