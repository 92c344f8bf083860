// What a thread knew before `__syncthreads_or` it knows after it, although that is written with names that are in use.
//@ variants: static shared sm_90 G

#include "../check.h"

__global__ void find(unsigned *found, unsigned count, unsigned from) {
    __shared__ unsigned first;
    if (threadIdx.x == 0) first = count;
    __syncthreads();
    bool is_found = false;
    for (unsigned index = threadIdx.x; index < count; index += blockDim.x) {
        if (index >= from) {
            atomicMin(&first, index);
            is_found = true;
            break;
        }
    }
    if (__syncthreads_or(is_found)) {
        if (threadIdx.x == 0) *found = first;
        return;
    }
    if (threadIdx.x == 0) *found = count;
}

int main() {
    unsigned *result;
    CHECK(cudaMallocManaged(&result, sizeof(*result)));
    for (unsigned from : {0u, 1u, 31u, 32u, 500u, 999u, 1000u}) {
        *result = ~0u;
        find<<<1, 128>>>(result, 1000, from);
        CHECK(cudaDeviceSynchronize());
        REQUIRE(*result == from);
    }
    printf("PASS\n");
    return 0;
}
