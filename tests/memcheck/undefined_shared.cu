// Shared memory is undefined when a block begins, whoever had it before.
#include "memcheck.h"
#include <cuda_pipeline.h>

__global__ void tile(const int *in, int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (WRONG_OR_RIGHT(0, 1)) tile[threadIdx.x + 32] = 1;
    __syncthreads();
    if (tile[threadIdx.x ^ 1] == 0) atomicAdd(out, 1);
    if (tile[63 - threadIdx.x] == 1) atomicAdd(out, 1); //~ ERROR undefined-branch
}

__global__ void dynamic(int *out) {
    extern __shared__ short sums[];
    if (threadIdx.x >= WRONG_OR_RIGHT(1, 0)) sums[threadIdx.x] = 1;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 32; i++) sum += sums[i];
    if (sum > 31) out[threadIdx.x] = sum; //~ ERROR undefined-branch
}

// A sum in shared memory that nobody sets to 0.
__global__ void total(const int *in, int *out) {
    __shared__ int total;
    if (WRONG_OR_RIGHT(0, 1) && threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0 && total > 3) out[0] = total; //~ ERROR undefined-branch
}

// Copies that complete later carry what is known of the source.
__global__ void pipelined(const float4 *in, int *out) {
    __shared__ float4 tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (tile[0].x < 1) out[0] = 1;
    if (tile[31].w < 1) out[1] = 1; //~ ERROR undefined-branch
}

// Bytes beside each other.
__global__ void bytes(int *out) {
    __shared__ unsigned char b[256];
    b[threadIdx.x] = 1;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 256; i++) sum += b[i];
    if (sum == 256) out[threadIdx.x] = 1;
}

int main() {
    int *in = device<int>(32), *out = device<int>(256);
    tile<<<4, 32>>>(in, out);
    dynamic<<<2, 32, 64>>>(out);
    total<<<1, 32>>>(in, out);
    float4 *v = fresh<float4>(32);
    cudaMemset(v, 0, 32 * 16 - WRONG_OR_RIGHT(4, 0));
    pipelined<<<1, 32>>>(v, out);
    bytes<<<2, 256>>>(out);
    return finish();
}
