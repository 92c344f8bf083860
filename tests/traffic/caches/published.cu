// arch: sm_61
// A transpose of floats whose lanes read a column, with blocks of 32 by 32 threads. nvprof says of a GeForce MX150 that L1 has none of
// the loads, and L2 87.5 %: a sector is read by eight rows of threads, and the first loads it. Through a tile, no sector is read
// twice: 0 % of both. (gist.github.com/mwarusz/e73c9a68bc07873305b8e227a427f4d8, with blocks and size in 18c4fe123c8869dd4570ae518ea6f582)
#include "../../memcheck/memcheck.h"

const int N = 1024;

__global__ void naive(float *to, const float *from) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    to[y * N + x] = from[x * N + y]; //~ CACHES load sectors=2560*32 l1_hits_high=0 l2_hits_low=2560*28 l2_hits_high=2560*28; store sectors=2560*4 l1_hits_high=0
}

__global__ void tiled(float *to, const float *from) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;
    tile[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * N + x + threadIdx.x]; //~ CACHES load sectors=2560*4 l1_hits_high=0 l2_hits_high=0
    __syncthreads();
    to[(x + threadIdx.y) * N + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; //~ CACHES store sectors=2560*4 l1_hits_high=0
}

int main() {
    float *to = device<float>(N * N), *from = device<float>(N * N);
    naive<<<dim3(N / 32, N / 32), dim3(32, 32)>>>(to, from);
    tiled<<<dim3(N / 32, N / 32), dim3(32, 32)>>>(to, from);
    return finish();
}
