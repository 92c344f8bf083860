#include "memcheck.h"

#include <cuda_pipeline.h>

__global__ void copy(const float4 *in, float4 *out) {
    __shared__ float4 tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x + WRONG_OR_RIGHT(1, 0)], 16); //~ ERROR out-of-bounds
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x];
}

int main() {
    copy<<<1, 32>>>(device<float4>(32), device<float4>(32));
    return finish();
}
