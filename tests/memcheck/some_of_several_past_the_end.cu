//@ flags: --on-error continue
#include "memcheck.h"

// Four accesses through one pointer, of which the last thread makes two behind the end: the others take place.
__global__ void quadruple(float *data, int *sum) {
    volatile float *mine = data + 4 * threadIdx.x;
    mine[0] = 1;
    mine[1] = 2;
    mine[2] = 3; //~ ERROR out-of-bounds
    mine[3] = 4; //~ ERROR out-of-bounds
    __syncthreads();
    float all = mine[0] + mine[1] + mine[2] + mine[3]; // zero where there is nothing, which was said
    atomicAdd(sum, (int)all);
}

int main() {
    int count = WRONG_OR_RIGHT(254, 256), *sum = device<int>(1), result = 0;
    cudaMemset(sum, 0, sizeof *sum);
    quadruple<<<1, 64>>>(device<float>(count), sum);
    cudaDeviceSynchronize();
    cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
    int expected = WRONG_OR_RIGHT(63 * 10 + 3, 640);
    if (result != expected) abort();
    return finish();
}
