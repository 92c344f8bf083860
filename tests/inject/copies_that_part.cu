// A copy of a thread that goes another way waits for a twin that does not come. The kernel has no loop, and what waits is a
// loop of the tool: such a trial ends, too.
//@ trials: --model thread-id --trials 200 --with rmt:warp-pair => invalid=0 effective=117 escaped=0 protected.detected>0 protected.hang>0
//@ trials: --model thread-id --trials 200 --with rmt:inter => invalid=0 effective=117 escaped=0 protected.detected>0 protected.hang>0
#include "common.h"

__global__ void some_threads(int *first, int *second) {
    if (threadIdx.x < 40)
        first[threadIdx.x] = 1 + threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 20)
        second[threadIdx.x] = first[39 - threadIdx.x];
}

int main() {
    Numbers first(0), second(0);
    some_threads<<<1, 64>>>(first.data, second.data);
    ok(cudaDeviceSynchronize());
}
