#include "../../memcheck/memcheck.h"

// Accesses to 1, 2, 4, 8 and 16 bytes, contiguous: 32 lanes access 32 to 512 bytes.
#define COPY(NAME, T)                                                                                                  \
    __global__ void NAME(T *to, const T *from) { to[threadIdx.x] = from[threadIdx.x]; }

COPY(bytes_1, char)    //~ TRAFFIC global load requests=1 sectors=1 cache_lines=1 bytes=32*1; global store requests=1 sectors=1 cache_lines=1 bytes=32*1
COPY(bytes_2, short)   //~ TRAFFIC global load requests=1 sectors=2 cache_lines=1 bytes=32*2; global store requests=1 sectors=2 cache_lines=1 bytes=32*2
COPY(bytes_4, int)     //~ TRAFFIC global load requests=1 sectors=4 cache_lines=1 bytes=32*4; global store requests=1 sectors=4 cache_lines=1 bytes=32*4
COPY(bytes_8, double)  //~ TRAFFIC global load requests=1 sectors=8 cache_lines=2 bytes=32*8; global store requests=1 sectors=8 cache_lines=2 bytes=32*8
COPY(vector_8, float2) //~ TRAFFIC global load requests=1 sectors=8 cache_lines=2 bytes=32*8; global store requests=1 sectors=8 cache_lines=2 bytes=32*8
COPY(vector_16, float4) //~ TRAFFIC global load requests=1 sectors=16 cache_lines=4 bytes=32*16; global store requests=1 sectors=16 cache_lines=4 bytes=32*16

// 8 bytes, from the second element on: the last 8 of 256 bytes are in a ninth sector, and a third line.
__global__ void second_double(double *to, const double *from) {
    to[threadIdx.x] = from[threadIdx.x + 1]; //~ TRAFFIC global load requests=1 sectors=9 cache_lines=3; global store requests=1 sectors=8 cache_lines=2
}

// Every other element of 8 bytes: 512 bytes, of which half is used.
__global__ void every_other_double(double *to, const double *from) {
    to[threadIdx.x] = from[threadIdx.x * 2]; //~ TRAFFIC global load requests=1 sectors=16 cache_lines=4; global store requests=1 sectors=8 cache_lines=2
}

// Every other element of 16 bytes: each is half of a sector.
__global__ void every_other_vector(float4 *to, const float4 *from) {
    to[threadIdx.x] = from[threadIdx.x * 2]; //~ TRAFFIC global load requests=1 sectors=32 cache_lines=8; global store requests=1 sectors=16 cache_lines=4
}

int main() {
    void *to = device<char>(1 << 12), *from = device<char>(1 << 12);
    bytes_1<<<1, 32>>>((char *)to, (char *)from);
    bytes_2<<<1, 32>>>((short *)to, (short *)from);
    bytes_4<<<1, 32>>>((int *)to, (int *)from);
    bytes_8<<<1, 32>>>((double *)to, (double *)from);
    vector_8<<<1, 32>>>((float2 *)to, (float2 *)from);
    vector_16<<<1, 32>>>((float4 *)to, (float4 *)from);
    second_double<<<1, 32>>>((double *)to, (double *)from);
    every_other_double<<<1, 32>>>((double *)to, (double *)from);
    every_other_vector<<<1, 32>>>((float4 *)to, (float4 *)from);
    return finish();
}
