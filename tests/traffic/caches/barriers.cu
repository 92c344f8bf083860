// Warps of a block that read what another has loaded before a barrier find it in L1, whatever the order; and what shared arrays are
// for is the same, too.
#include "../../memcheck/memcheck.h"

__global__ void exchange(float *to, const float *from) {
    float first = from[threadIdx.x]; //~ CACHES load sectors=4*16 l1_hits_high=0
    __syncthreads();
    to[threadIdx.x] = first + from[127 - threadIdx.x]; //~ CACHES load sectors=4*16 l1_hits_low=4*16; store sectors=4*16
}

__global__ void sum(float *to, const float *from) {
    __shared__ float partial[128];
    partial[threadIdx.x] = from[threadIdx.x] * 2; //~ CACHES load sectors=4*16
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *to = partial[0]; //~ CACHES store sectors=4
}

int main() {
    float *to = device<float>(128), *from = device<float>(128);
    exchange<<<4, 128>>>(to, from);
    sum<<<4, 128>>>(to, from);
    return finish();
}
