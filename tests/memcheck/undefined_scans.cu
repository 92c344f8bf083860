// Undefined values that go from warp to warp, through shared memory and barriers, in loops, and in one part of a warp only.
#include "memcheck.h"

// Each thread adds what is so far to its left. The last thread has something undefined, so it alone does in the end.
__global__ void sums(const int *in, int *out) {
    __shared__ int sums[256];
    int thread = threadIdx.x;
    sums[thread] = in[thread];
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        int left = thread >= distance ? sums[thread - distance] : 0;
        __syncthreads();
        sums[thread] += left;
        __syncthreads();
    }
    if (thread < 255 && sums[thread] > 3) atomicAdd(out, 1);
    if (thread == 255 && sums[thread] > 3) atomicAdd(out, 1); //~ ERROR undefined-branch
}

// A sum around a loop of which one term is undefined, in one lane of the third warp.
__global__ void dots(const int *in, int n, int *out) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += in[i * 128 + threadIdx.x] * (i + 1);
    if (threadIdx.x / 32 != 2 && sum > 3) atomicAdd(out, 1);
    if (threadIdx.x / 32 == 2 && sum > 3) atomicAdd(out, 1); //~ ERROR undefined-branch
}

// Bits of three values. Where it says so, one of them does not matter.
__global__ void majorities(const unsigned *in, unsigned *out) {
    __shared__ unsigned last[64];
    unsigned bits = 0, thread = threadIdx.x;
    for (int i = 0; i < 4; i++) {
        unsigned a = in[i * 64 + thread], b = in[i * 64 + (thread ^ 1)];
        bits = (bits & a) | (bits & b) | (a & b);
        last[thread] = bits;
        __syncthreads();
        bits ^= last[63 - thread];
        __syncthreads();
    }
    if (thread >= 2 && thread < 30 && bits > 7) out[thread] = 1;
    if (thread < 2 && bits > 7) out[thread] = 1; //~ ERROR undefined-branch
}

// What it looks for in the states of the blocks before, as `states` says.
template <typename State> __device__ unsigned before(State *states, int block) {
    unsigned sum = 0;
    for (int other = block - 1; other >= 0; other--) {
        unsigned state = states[other];
        while (!(state & 3)) state = states[other];
        sum += state >> 2;
        if (state & 2) break;
    }
    return sum;
}

// A scan that looks back: the input is only read, the states are written and read in the launch. The value of a block that is
// undefined comes through them to those after it.
__global__ void look_back(const unsigned *in, unsigned *out, volatile unsigned *states, unsigned *next) {
    __shared__ unsigned block, sum, left;
    if (threadIdx.x == 0) {
        block = atomicAdd(next, 1);
        sum = 0;
    }
    __syncthreads();
    unsigned value = in[block * 64 + threadIdx.x];
    atomicAdd(&sum, value);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (block > 0) states[block] = sum << 2 | 1;
        left = before(states, block);
        states[block] = (left + sum) << 2 | 2;
    }
    __syncthreads();
    if (block < 5 && left + value > 100) out[block * 64 + threadIdx.x] = left;
    if (block >= 5 && left + value > 100) out[block * 64 + threadIdx.x] = left; //~ ERROR undefined-branch
}

// The flags are what is never written.
__global__ void waits(volatile unsigned *states, unsigned *out) {
    if (threadIdx.x == 0) states[1] = 3;
    __syncthreads();
    if (states[threadIdx.x] == 3) out[threadIdx.x] = 1; //~ ERROR undefined-branch
}

// What one warp finds, another uses: an index, after several barriers.
__global__ void hands_over(const int *in, int *out) {
    __shared__ int found[4], best;
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) found[warp] = in[warp] & 31;
    __syncthreads();
    if (threadIdx.x == 0) best = found[0] + found[1] + found[2];
    __syncthreads();
    if (threadIdx.x == 0) best += found[3];
    __syncthreads();
    out[best] = warp; //~ ERROR undefined-address
}

int main() {
    const int wrong = WRONG_OR_RIGHT(1, 0);
    int *in = fresh<int>(1024), *out = device<int>(1024);
    OK(cudaMemset(in, 0, (256 - wrong) * 4));
    sums<<<2, 256>>>(in, out);
    OK(cudaMemset(in, 0, 1024 * 4));
    int *terms = fresh<int>(1024);
    OK(cudaMemset(terms, 0, (5 * 128 + 70) * 4));
    OK(cudaMemset(terms + 5 * 128 + 70 + wrong, 0, (1024 - 5 * 128 - 70 - wrong) * 4));
    dots<<<1, 128>>>(terms, 8, out);
    unsigned *words = fresh<unsigned>(256);
    OK(cudaMemset(words, 0, 128 * 4));
    OK(cudaMemset(words + 128, 0xff, (128 - 2 * wrong) * 4));
    majorities<<<1, 64>>>(words, (unsigned *)out);
    unsigned *values = fresh<unsigned>(512), *states = device<unsigned>(8), *next = device<unsigned>(1);
    OK(cudaMemset(values, 0, 5 * 64 * 4));
    OK(cudaMemset(values + 5 * 64 + wrong, 0, (3 * 64 - wrong) * 4));
    look_back<<<8, 64>>>(values, (unsigned *)out, states, next);
    unsigned *flags = fresh<unsigned>(32);
    if (!wrong) OK(cudaMemset(flags, 0, 32 * 4));
    waits<<<1, 32>>>(flags, (unsigned *)out);
    int *starts = fresh<int>(4);
    OK(cudaMemset(starts, 0, (4 - wrong) * 4));
    hands_over<<<2, 128>>>(starts, out);
    return finish();
}
