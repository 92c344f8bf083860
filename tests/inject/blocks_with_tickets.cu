// Which copy of which block a block is, it is told by the ticket that it draws: all places are found again in the one that has them.
//@ trials: --model single-bit --trials 200 --with rmt:inter => invalid=0 escaped=0 protected.detected>50
//@ trials: --model register-file --trials 200 --with rmt:inter => invalid=0 protected.detected>20
#include "common.h"

__global__ void sum_of_ids(int *to, int value) {
    to[blockIdx.x * blockDim.x + threadIdx.x] = value * value + threadIdx.x + 100 * blockIdx.x;
}

int main() {
    Numbers to(0);
    sum_of_ids<<<2, 32>>>(to.data, 5);
    ok(cudaDeviceSynchronize());
}
