// Blocks whose rows are 16 or 8 threads, so that a warp is several rows: what lanes come to in the banks.
#include "../../memcheck/memcheck.h"

// Two rows of a warp store 32 words that follow each other. Read by columns, words are 16 apart: each bank has 8 of them.
__global__ void columns_of_16(int *to) {
    __shared__ int tile[16][16];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x; //~ TRAFFIC shared store requests=8 bank_ways_max=1 bank_passes=8
    __syncthreads();
    to[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ TRAFFIC shared load requests=8 bank_ways_max=8 bank_passes=8*8; global store requests=8 sectors=8*4
}

// With rows of 17 words, a word of the one row is in a bank of the other, whether they are stored or read by columns: words 0 and 32,
// and those of lanes (0, 0) and (15, 1).
__global__ void padded(int *to) {
    __shared__ int tile[16][17];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x; //~ TRAFFIC shared store requests=8 bank_ways_max=2 bank_passes=8*2
    __syncthreads();
    to[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ TRAFFIC shared load requests=8 bank_ways_max=2 bank_passes=8*2; global store requests=8 sectors=8*4
}

// Numbers of 8 bytes: a row is a turn, and all of it is in one pair of banks.
__global__ void doubles(double *to) {
    __shared__ double tile[16][16];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x; //~ TRAFFIC shared store requests=8 bank_ways_max=1 bank_passes=8*2
    __syncthreads();
    to[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ TRAFFIC shared load requests=8 bank_ways_max=16 bank_passes=8*32; global store requests=8 sectors=8*8
}

// Rows of 8: a warp has four of them, and columns have two words in each bank. The last warp is half of one.
__global__ void columns_of_8(int *to) {
    __shared__ int tile[8][8];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x; //~ TRAFFIC shared store requests=2 bank_ways_max=1 bank_passes=2
    __syncthreads();
    to[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=4+2
}

int main() {
    columns_of_16<<<1, dim3(16, 16)>>>(device<int>(256));
    padded<<<1, dim3(16, 16)>>>(device<int>(256));
    doubles<<<1, dim3(16, 16)>>>(device<double>(256));
    columns_of_8<<<1, dim3(8, 6)>>>(device<int>(64));
    return finish();
}
