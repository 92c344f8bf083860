// What makes memory defined, and what does not: fills, copies, kernels, atomics.
#include "memcheck.h"

__global__ void negative(const int *in, int *out) {
    if (in[threadIdx.x] < 0) out[threadIdx.x] = 1; //~ ERROR undefined-branch
}

__global__ void fill(int *p, int n) {
    int i = threadIdx.x;
    if (i < n) p[i] = 3;
}

__global__ void exchange(int *p) { atomicExch(p + threadIdx.x, 1); }
__global__ void count(int *p) { atomicAdd(p + threadIdx.x, 1); }
__global__ void clear(int *p) { atomicAnd(p + threadIdx.x, WRONG_OR_RIGHT(1, 0)); }
__global__ void forward(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

__device__ int variable[32];

int main() {
    int *out = device<int>(32);
    int *a = fresh<int>(32);
    fill<<<1, 32>>>(a, WRONG_OR_RIGHT(31, 32));
    negative<<<1, 32>>>(a, out);
    negative<<<1, 31>>>(a, out);
    // Defined by an exchange, not by an addition.
    int *b = fresh<int>(32);
    if (WRONG_OR_RIGHT(0, 1)) exchange<<<1, 32>>>(b);
    count<<<1, 32>>>(b);
    negative<<<1, 32>>>(b, out);
    int *c = fresh<int>(32);
    clear<<<1, 32>>>(c);
    forward<<<1, 32>>>(c, address_of(variable));
    negative<<<1, 32>>>(address_of(variable), out);
    // Rows of two dimensions.
    int *d = fresh<int>(32);
    cudaMemset2D(d, 16, 0, WRONG_OR_RIGHT(12, 16), 8);
    negative<<<1, 32>>>(d, out);
    // In a stream, with memory of the stream.
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    int *e;
    cudaMallocAsync((void **)&e, 128, stream);
    if (WRONG_OR_RIGHT(0, 1)) cudaMemsetAsync(e, 0, 128, stream);
    negative<<<1, 32, 0, stream>>>(e, out);
    cudaStreamSynchronize(stream);
    return finish();
}
