#include "../../memcheck/memcheck.h"
#include <cuda_pipeline.h>

// Asynchronous copies are a load of global memory and a store to shared memory; matrices are loaded by rows of 16 bytes.
__global__ void asynchronous(float4 *to, const float4 *from) {
    __shared__ float4 tile[32];
    __pipeline_memcpy_async(tile + threadIdx.x, from + threadIdx.x, 16); //~ TRAFFIC global load requests=1 sectors=16 cache_lines=4; shared store requests=1 bank_ways_max=1 bank_passes=4*1
    __pipeline_commit();
    __pipeline_wait_prior(0);
    to[threadIdx.x] = ((const float4 *)tile)[threadIdx.x]; //~ TRAFFIC shared load requests=1 bank_ways_max=1 bank_passes=4; global store requests=1 sectors=16 cache_lines=4
}

// Four matrices: each lane has a row of 16 bytes; eight of them are a turn. Contiguous rows do not conflict, rows of 128 bytes do.
__global__ void matrices(unsigned *to, int row) {
    __shared__ alignas(16) char tile[32 * 128];
    unsigned at = (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x * row, a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at)); //~ TRAFFIC shared load requests=2 bank_ways_max=8 bank_passes=4*1+4*8
    to[threadIdx.x] = a + b + c + d; //~ TRAFFIC global store requests=2 sectors=2*4 cache_lines=2*1
}

// One matrix: the addresses of the first eight lanes count.
__global__ void matrix(unsigned *to, int row) {
    __shared__ alignas(16) char tile[32 * 128];
    unsigned at = (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x * row, a;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at)); //~ TRAFFIC shared load requests=1 bank_ways_max=8 bank_passes=8
    to[threadIdx.x] = a; //~ TRAFFIC global store requests=1 sectors=4 cache_lines=1
}

int main() {
    void *to = device<float4>(32), *from = device<float4>(32);
    asynchronous<<<1, 32>>>((float4 *)to, (float4 *)from);
    matrices<<<1, 32>>>((unsigned *)to, 16);
    matrices<<<1, 32>>>((unsigned *)to, 128);
    matrix<<<1, 32>>>((unsigned *)to, 128);
    return finish();
}
