#include "../../memcheck/memcheck.h"

// Transposes of a matrix of 64 by 64 words: 4096 elements are 128 requests of a warp.
const int N = 64;

// A column has a stride of 64 words.
__global__ void naive(float *to, const float *from) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    to[x * N + y] = from[y * N + x]; //~ TRAFFIC global load requests=128 sectors=128*4 cache_lines=128*1; global store requests=128 sectors=128*32 cache_lines=128*32
}

// Through a tile, whose columns have a stride of 32 words: all lanes are in one bank.
__global__ void tiled(float *to, const float *from) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;
    tile[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * N + x + threadIdx.x]; //~ TRAFFIC global load requests=128 sectors=128*4 cache_lines=128*1; shared store requests=128 bank_ways_max=1 bank_passes=128*1
    __syncthreads();
    to[(x + threadIdx.y) * N + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ TRAFFIC global store requests=128 sectors=128*4 cache_lines=128*1; shared load requests=128 bank_ways_max=32 bank_passes=128*32
}

// 33 words: each lane has a bank of its own.
__global__ void padded(float *to, const float *from) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;
    tile[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * N + x + threadIdx.x]; //~ TRAFFIC global load requests=128 sectors=128*4 cache_lines=128*1; shared store requests=128 bank_ways_max=1 bank_passes=128*1
    __syncthreads();
    to[(x + threadIdx.y) * N + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ TRAFFIC global store requests=128 sectors=128*4 cache_lines=128*1; shared load requests=128 bank_ways_max=1 bank_passes=128*1
}

// Tiles of 16 by 16: a warp has two rows of 16 words, which are 2 sectors each, 64 words apart: in lines of their own. In the tile
// they follow each other. Its columns: lanes (x, y) access word 16 x + y, for two y, so 16 lanes are 16 words apart, in two
// banks, and so are the others, in the two banks that follow: 8 words are in each.
__global__ void half_tiled(float *to, const float *from) {
    __shared__ float tile[16][16];
    int x = blockIdx.x * 16, y = blockIdx.y * 16;
    tile[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * N + x + threadIdx.x]; //~ TRAFFIC global load requests=128 sectors=128*4 cache_lines=128*2; shared store requests=128 bank_ways_max=1 bank_passes=128*1
    __syncthreads();
    to[(x + threadIdx.y) * N + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ TRAFFIC global store requests=128 sectors=128*4 cache_lines=128*2; shared load requests=128 bank_ways_max=8 bank_passes=128*8
}

// Padded to 17 words: lanes x access words 17 x + y. For y and y + 1 the banks are 17 x + y and 17 x + y + 1, modulo 32. The first
// have 16 different banks, and so have the second; bank b of the first is bank b of the second where 17 (x - x') = 1 modulo 32,
// which is x - x' = 17, or -15: lane (0, y + 1) and lane (15, y), whose words are 1 and 255 words from y. So two conflict.
__global__ void half_padded(float *to, const float *from) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16, y = blockIdx.y * 16;
    tile[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * N + x + threadIdx.x]; //~ TRAFFIC global load requests=128 sectors=128*4 cache_lines=128*2; shared store requests=128 bank_ways_max=2 bank_passes=128*2
    __syncthreads();
    to[(x + threadIdx.y) * N + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ TRAFFIC global store requests=128 sectors=128*4 cache_lines=128*2; shared load requests=128 bank_ways_max=2 bank_passes=128*2
}

int main() {
    float *to = device<float>(N * N), *from = device<float>(N * N);
    naive<<<dim3(2, 2), dim3(32, 32)>>>(to, from);
    tiled<<<dim3(2, 2), dim3(32, 32)>>>(to, from);
    padded<<<dim3(2, 2), dim3(32, 32)>>>(to, from);
    half_tiled<<<dim3(4, 4), dim3(16, 16)>>>(to, from);
    half_padded<<<dim3(4, 4), dim3(16, 16)>>>(to, from);
    return finish();
}
