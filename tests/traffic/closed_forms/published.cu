// Kernels of which others have published what profilers counted on GPUs, in small; traffic's README has the figures beside theirs.
#include "../../memcheck/memcheck.h"

const int N = 64;

// A product of which Nsight Compute says that requests have 2.5 sectors on average, with blocks of 32 by 16 threads: one of `a`, whose
// lanes read the same word, and four of `b`. (forums.developer.nvidia.com/t/169185)
__global__ void product(const int *a, const int *b, int *c) {
    int row = threadIdx.y + blockIdx.y * blockDim.y, col = threadIdx.x + blockIdx.x * blockDim.x;
    int value = 0;
#pragma unroll 1
    for (int k = 0; k < N; ++k) //~ BRANCH executed=8192 divergent=0 idle_lanes=0
        value += a[row * N + k] * b[k * N + col]; //~ TRAFFIC global load requests=2*8192 sectors=8192*1+8192*4
    c[row * N + col] = value; //~ TRAFFIC global store requests=128 sectors=128*4
}

// The same where all lanes read the same word of both: 1 sector.
__global__ void product_of_rows(const int *a, const int *b, int *c) {
    int row = threadIdx.y + blockIdx.y * blockDim.y, col = threadIdx.x + blockIdx.x * blockDim.x;
    int value = 0;
#pragma unroll 1
    for (int k = 0; k < N; ++k) //~ BRANCH executed=8192 divergent=0 idle_lanes=0
        value += a[row * N + k] * b[row * N + k]; //~ TRAFFIC global load requests=2*8192 sectors=2*8192*1
    c[row * N + col] = value; //~ TRAFFIC global store requests=128 sectors=128*4
}

// And where they read words that follow each other in both: 4 sectors.
__global__ void product_of_columns(const int *a, const int *b, int *c) {
    int row = threadIdx.y + blockIdx.y * blockDim.y, col = threadIdx.x + blockIdx.x * blockDim.x;
    int value = 0;
#pragma unroll 1
    for (int k = 0; k < N; ++k) //~ BRANCH executed=8192 divergent=0 idle_lanes=0
        value += a[k * N + col] * b[k * N + col]; //~ TRAFFIC global load requests=2*8192 sectors=2*8192*4
    c[row * N + col] = value; //~ TRAFFIC global store requests=128 sectors=128*4
}

// A transpose of doubles: 8 sectors for a request, 32.5 wavefronts for a store to the tile and 2.0 for a load from it, of 32 by 32
// threads. (forums.developer.nvidia.com/t/217015)
__global__ void transpose(const double *a, double *c) {
    __shared__ double tile[32][32];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;
    tile[threadIdx.x][threadIdx.y] = a[(y + threadIdx.y) * N + x + threadIdx.x]; //~ TRAFFIC global load requests=128 sectors=128*8; shared store requests=128 bank_ways_max=16 bank_passes=128*32
    __syncthreads();
    c[(x + threadIdx.y) * N + y + threadIdx.x] = tile[threadIdx.y][threadIdx.x]; //~ TRAFFIC global store requests=128 sectors=128*8; shared load requests=128 bank_ways_max=1 bank_passes=128*2
}

// Two blocks of a warp that read every fourth word: 6 conflicts in all, which are passes beyond one for each request.
// (github.com/NVIDIA-developer-blog/code-samples/issues/48)
__global__ void every_fourth(const float *in, float *out) {
    __shared__ float words[32 * 8];
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    words[index] = in[index]; //~ TRAFFIC global load requests=2 sectors=2*4; shared store requests=2 bank_ways_max=1 bank_passes=2
    __syncthreads();
    out[index] = words[index * 4]; //~ TRAFFIC global store requests=2 sectors=2*4; shared load requests=2 bank_ways_max=4 bank_passes=2+6
}

int main() {
    int *a = device<int>(N * N), *b = device<int>(N * N), *c = device<int>(N * N);
    product<<<dim3(2, 4), dim3(32, 16)>>>(a, b, c);
    product_of_rows<<<dim3(2, 4), dim3(32, 16)>>>(a, b, c);
    product_of_columns<<<dim3(2, 4), dim3(32, 16)>>>(a, b, c);
    double *from = device<double>(N * N), *to = device<double>(N * N);
    transpose<<<dim3(2, 2), dim3(32, 32)>>>(from, to);
    float *in = device<float>(N), *out = device<float>(N);
    every_fourth<<<2, 32>>>(in, out);
    return finish();
}
