#include "../memcheck/memcheck.h"

// Blocks and grids of two and three dimensions.
const int SIDE = 32;

__global__ void transpose(const float *in, float *out, int width) {
    __shared__ float tile[SIDE][SIDE + 1];
    int x = blockIdx.x * SIDE, y = blockIdx.y * SIDE;
    for (int row = threadIdx.y; row < SIDE; row += blockDim.y)
        tile[row][threadIdx.x] = in[(y + row) * width + x + threadIdx.x]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    for (int row = threadIdx.y; row < SIDE; row += blockDim.y)
        if (threadIdx.x % blockDim.y != threadIdx.y)
            out[(x + row) * width + y + threadIdx.x] = tile[threadIdx.x][row]; //~ ERROR data-race
        else
            out[(x + row) * width + y + threadIdx.x] = in[(y + threadIdx.x) * width + x + row];
}

__global__ void matrix_product(const float *a, const float *b, float *c, int width) {
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    float sum = 0;
    for (int tile = 0; tile < width; tile += SIDE) {
        left[threadIdx.y][threadIdx.x] = a[threadIdx.y * width + tile + threadIdx.x]; //~ ERROR data-race
        right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * width + threadIdx.x]; //~ ERROR data-race
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < SIDE; ++i) sum += right[i][threadIdx.x]; //~ ERROR data-race
        sum *= left[SIDE - 1 - threadIdx.y][threadIdx.x]; //~ ERROR data-race
        WRONG_OR_RIGHT((void)0, __syncthreads());
    }
    c[threadIdx.y * SIDE + threadIdx.x] = sum;
}

// The rows above and below are other warps', those of the halo, too.
__global__ void stencil(const float *in, float *out) {
    __shared__ float rows[10][SIDE];
    int row = threadIdx.y + 1;
    rows[row][threadIdx.x] = in[row * SIDE + threadIdx.x]; //~ ERROR data-race
    if (threadIdx.y < 2) rows[threadIdx.y * 9][threadIdx.x] = in[threadIdx.y * 9 * SIDE + threadIdx.x];
    WRONG_OR_RIGHT((void)0, __syncthreads());
    out[row * SIDE + threadIdx.x] = rows[row - 1][threadIdx.x] + rows[row + 1][threadIdx.x]; //~ ERROR data-race
}

// Only the halo comes after the barrier.
__global__ void late_halo(const float *in, float *out) {
    __shared__ float rows[10][SIDE];
    int row = threadIdx.y + 1;
    rows[row][threadIdx.x] = in[row * SIDE + threadIdx.x];
    if (WRONG_OR_RIGHT(true, false)) __syncthreads();
    if (threadIdx.y >= 6) rows[(threadIdx.y - 6) * 9][threadIdx.x] = in[(threadIdx.y - 6) * 9 * SIDE + threadIdx.x]; //~ ERROR data-race
    if (WRONG_OR_RIGHT(false, true)) __syncthreads();
    out[row * SIDE + threadIdx.x] = rows[row - 1][threadIdx.x] + rows[row + 1][threadIdx.x];
}

// Blocks of three dimensions: each layer is a warp.
__global__ void layers(const float *in, float *out) {
    __shared__ float cube[4][4][8];
    int i = (threadIdx.z * 4 + threadIdx.y) * 8 + threadIdx.x;
    cube[threadIdx.z][threadIdx.y][threadIdx.x] = in[i]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    out[i] = cube[3 - threadIdx.z][threadIdx.y][threadIdx.x]; //~ ERROR data-race
}

// A stencil in place, by blocks of a grid of three dimensions.
__global__ void cube_in_place(float *cube, float *out) {
    int i = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, above = gridDim.x * gridDim.y;
    float sum = cube[i];
    if (blockIdx.z > 0) sum += cube[i - above]; //~ ERROR data-race
    WRONG_OR_RIGHT(cube, out)[i] = sum;
}

// The last warp has three threads only.
__global__ void last_warp(int *data) {
    __shared__ int tile[67];
    int i = threadIdx.y * blockDim.x + threadIdx.x;
    if (i >= 64) tile[i] = data[i]; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (i < 3) data[i] = tile[i + 64];
}

int main() {
    transpose<<<dim3(2, 2), dim3(SIDE, 8)>>>(device<float>(4096), device<float>(4096), 64);
    matrix_product<<<1, dim3(SIDE, SIDE)>>>(device<float>(2048), device<float>(2048), device<float>(1024), 64);
    stencil<<<1, dim3(SIDE, 8)>>>(device<float>(320), device<float>(320));
    late_halo<<<1, dim3(SIDE, 8)>>>(device<float>(320), device<float>(320));
    layers<<<1, dim3(8, 4, 4)>>>(device<float>(128), device<float>(128));
    cube_in_place<<<dim3(3, 2, 4), 1>>>(device<float>(24), device<float>(24));
    last_warp<<<1, dim3(67, 1)>>>(device<int>(67));
    return finish();
}
