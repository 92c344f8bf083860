// Undefined values go from lane to lane, and are found where they are used.
#include "memcheck.h"

// The last lane has nothing.
__global__ void shuffled(const int *in, int *out) {
    int x = in[threadIdx.x];
    int y = __shfl_down_sync(~0u, x, 1);
    if (threadIdx.x < 30 && y > 3) atomicAdd(out, 1);
    if (threadIdx.x == 30 && y > 3) atomicAdd(out, 1); //~ ERROR undefined-branch
}

__global__ void reduced(const int *in, int *out) {
    int x = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
    if (x > 3) atomicAdd(out, 1); //~ ERROR undefined-branch
}

// What a lane without a value says decides nothing where another has already decided.
__global__ void voted(const int *in, int *out) {
    int x = in[threadIdx.x];
    if (__any_sync(~0u, x == 1)) out[0] = 1;
    if (__all_sync(~0u, x == 0)) out[1] = 1;
    if (__any_sync(~0u, x == 9)) out[2] = 1; //~ ERROR undefined-branch
}

__global__ void ballot(const int *in, int *out) {
    unsigned lanes = __ballot_sync(~0u, in[threadIdx.x] == 1);
    if (lanes & 0xff) out[0] = 1;
    if (lanes >> 31) out[1] = 1; //~ ERROR undefined-branch
}

// A mask that is undefined.
__global__ void mask(const unsigned *in, int *out) {
    unsigned mask = in[31] | ~0u >> WRONG_OR_RIGHT(1, 0);
    out[threadIdx.x] = __shfl_sync(mask, threadIdx.x, 0); //~ ERROR undefined-mask
}

int main() {
    int *in = fresh<int>(32);
    int ones[32];
    for (int &one : ones) one = 1;
    cudaMemcpy(in, ones, (32 - WRONG_OR_RIGHT(1, 0)) * 4, cudaMemcpyHostToDevice);
    int *out = device<int>(32);
    shuffled<<<1, 32>>>(in, out);
    reduced<<<1, 32>>>(in, out);
    voted<<<1, 32>>>(in, out);
    ballot<<<1, 32>>>(in, out);
    mask<<<1, 32>>>((unsigned *)in, out);
    return finish();
}
