// Matrices that lanes load and store together: each lane has the bits of its own elements.
//@ architecture: sm_90
#include "memcheck.h"

__device__ unsigned address(const void *pointer) { return unsigned(__cvta_generic_to_shared(pointer)); }

// Eight rows of eight halves, of which one is undefined: that in row 2 and column 5.
__device__ void fill(unsigned short *tile, const unsigned short *in) {
    tile[threadIdx.x] = in[threadIdx.x];
    tile[threadIdx.x + 32] = in[threadIdx.x + 32];
    __syncthreads();
}

// Two neighbours of a row: lane 10 has it, in the upper half.
__global__ void loaded(const unsigned short *in, int *out) {
    __shared__ __align__(16) unsigned short tile[64];
    fill(tile, in);
    unsigned word;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(word) : "r"(address(tile + threadIdx.x % 8 * 8)));
    if ((word & 0xffff) == 7) out[0] = 1;
    if (word >> 16 == 7) out[1] = 1; //~ ERROR undefined-branch
}

// Two neighbours of a column: lane 21 has it, in the lower half.
__global__ void transposed(const unsigned short *in, int *out) {
    __shared__ __align__(16) unsigned short tile[64];
    fill(tile, in);
    unsigned word;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(word) : "r"(address(tile + threadIdx.x % 8 * 8)));
    if ((word & 0xffff) == 7) out[0] = 1; //~ ERROR undefined-branch
    if (word >> 16 == 7) out[1] = 1;
}

// Four matrices, each from the addresses of eight lanes: the third is the one.
__global__ void four(const unsigned short *in, int *out) {
    __shared__ __align__(16) unsigned short tile[64], zeros[64];
    fill(tile, in);
    fill(zeros, in + 64);
    unsigned a, b, c, d;
    const unsigned short *of_lane = threadIdx.x / 8 == 2 ? tile : zeros;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(address(of_lane + threadIdx.x % 8 * 8)));
    if (a == 7 || b == 7 || d == 7) out[0] = 1;
    if (c >> 16 == 7) out[1] = 1; //~ ERROR undefined-branch
}

// The way back: the upper half of what lane 10 stores is that element.
__global__ void stored(const unsigned short *in, int *out) {
    __shared__ __align__(16) unsigned short tile[64];
    unsigned word = threadIdx.x == 10 ? unsigned(in[21]) << 16 : 0;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"
                 :: "r"(address(tile + threadIdx.x % 8 * 8)), "r"(word) : "memory");
    __syncthreads();
    if (tile[threadIdx.x] == 7) out[0] = 1; //~ ERROR undefined-branch
    if (tile[threadIdx.x + 32] == 7) out[1] = 1;
}

// And transposed: what lane 21 has in the lower half.
__global__ void stored_transposed(const unsigned short *in, int *out) {
    __shared__ __align__(16) unsigned short tile[64];
    unsigned word = threadIdx.x == 21 ? in[21] : 0;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};"
                 :: "r"(address(tile + threadIdx.x % 8 * 8)), "r"(word) : "memory");
    __syncthreads();
    if (tile[threadIdx.x] == 7) out[0] = 1; //~ ERROR undefined-branch
    if (tile[threadIdx.x + 32] == 7) out[1] = 1;
}

int main() {
    int *out = device<int>(4);
    unsigned short *in = fresh<unsigned short>(128), *hole = fresh<unsigned short>(1);
    OK(cudaMemset(in, 0, 256));
    if (WRONG_OR_RIGHT(1, 0)) OK(cudaMemcpy(in + 21, hole, 2, cudaMemcpyDeviceToDevice));
    loaded<<<1, 32>>>(in, out);
    transposed<<<1, 32>>>(in, out);
    four<<<1, 32>>>(in, out);
    stored<<<1, 32>>>(in, out);
    stored_transposed<<<1, 32>>>(in, out);
    return finish();
}
