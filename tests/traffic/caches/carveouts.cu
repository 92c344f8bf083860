// The program's own request counts: with most of the memory as shared memory, 224 lines of L1 are left on sm_80, so 228 do not fit;
// with as little as can be, they do.
#include "../../memcheck/memcheck.h"

template <int kernel> __global__ void twice(float *to, const float *from) {
    float sum = 0;
    for (int line = 0; line < 228 * 2; line++)
        sum += from[line % 228 * 32 + threadIdx.x]; //~ CACHES load sectors=5*2*228*4 l1_hits_low=3*228*4 l1_hits_high=3*228*4
    to[threadIdx.x] = sum; //~ CACHES store sectors=5*4 l1_hits_high=0
}

int main() {
    float *to = device<float>(32), *from = device<float>(228 * 32);
    cudaFuncSetAttribute(twice<0>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
    cudaFuncSetAttribute(twice<1>, cudaFuncAttributePreferredSharedMemoryCarveout, 50);
    cudaFuncSetCacheConfig(twice<2>, cudaFuncCachePreferShared);
    cudaFuncSetCacheConfig(twice<3>, cudaFuncCachePreferL1);
    twice<0><<<1, 32>>>(to, from);
    twice<1><<<1, 32>>>(to, from);
    twice<2><<<1, 32>>>(to, from);
    twice<3><<<1, 32>>>(to, from);
    twice<4><<<1, 32>>>(to, from);
    return finish();
}
