#include "../../memcheck/memcheck.h"

// Products of matrices of 32 by 32 words. A kernel has 1024 threads: 32 warps.
const int N = 32;

// A row of `left` is the same for all lanes: one sector. A row of `right` is 32 words. 32 steps for each of 32 warps.
__global__ void plain(float *to, const float *left, const float *right) {
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < N; ++k) //~ BRANCH executed=32*32 divergent=0 idle_lanes=0
        sum += left[y * N + k]  //~ TRAFFIC global load requests=1024 sectors=1024*1 cache_lines=1024*1
            * right[k * N + x]; //~ TRAFFIC global load requests=1024 sectors=1024*4 cache_lines=1024*1
    to[y * N + x] = sum; //~ TRAFFIC global store requests=32 sectors=32*4 cache_lines=32*1
}

// Tiles of 16 by 16: four blocks of 8 warps, two tiles of each matrix for each block. A warp has two rows of 16 words: 2 sectors
// each, in lines of their own, because rows of the matrix are a line each. In a tile they follow each other.
// In the loop, lanes of a row access the same word of `a`, and both rows the same 16 words of `b`: no conflicts.
__global__ void tiled(float *to, const float *left, const float *right) {
    __shared__ volatile float a[16][16], b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < N; t += 16) { //~ BRANCH executed=32*2 divergent=0 idle_lanes=0
        a[ty][tx] = left[y * N + t + tx];    //~ TRAFFIC global load requests=64 sectors=64*4 cache_lines=64*2; shared store requests=64 bank_ways_max=1 bank_passes=64*1
        b[ty][tx] = right[(t + ty) * N + x]; //~ TRAFFIC global load requests=64 sectors=64*4 cache_lines=64*2; shared store requests=64 bank_ways_max=1 bank_passes=64*1
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < 16; ++k) //~ BRANCH executed=64*16 divergent=0 idle_lanes=0
            sum += a[ty][k] * b[k][tx]; //~ TRAFFIC shared load requests=2*64*16 bank_ways_max=1 bank_passes=2*64*16
        __syncthreads();
    }
    to[y * N + x] = sum; //~ TRAFFIC global store requests=32 sectors=32*4 cache_lines=32*2
}

// The transposed tile is read by columns: rows of 32 words, so that all lanes are in one bank.
__global__ void columns(float *to, const float *left, const float *right) {
    __shared__ volatile float b[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    b[x][y] = right[y * N + x]; //~ TRAFFIC global load requests=32 sectors=32*4 cache_lines=32*1; shared store requests=32 bank_ways_max=32 bank_passes=32*32
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < N; ++k) //~ BRANCH executed=32*32 divergent=0 idle_lanes=0
        sum += left[y * N + k] //~ TRAFFIC global load requests=1024 sectors=1024*1 cache_lines=1024*1
            * b[x][k];         //~ TRAFFIC shared load requests=1024 bank_ways_max=32 bank_passes=1024*32
    to[y * N + x] = sum; //~ TRAFFIC global store requests=32 sectors=32*4 cache_lines=32*1
}

int main() {
    float *to = device<float>(N * N), *left = device<float>(N * N), *right = device<float>(N * N);
    plain<<<1, dim3(32, 32)>>>(to, left, right);
    tiled<<<dim3(2, 2), dim3(16, 16)>>>(to, left, right);
    columns<<<1, dim3(32, 32)>>>(to, left, right);
    return finish();
}
