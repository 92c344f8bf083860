#include "../memcheck/memcheck.h"
#include <cuda_fp16.h>

// Atomic operations do not race with each other, but with plain accesses.
__global__ void plain_read(int *count, int *out) {
    atomicAdd(count, 1); //~ ERROR data-race
    out[blockIdx.x] = WRONG_OR_RIGHT(*count, atomicAdd(count, 0)); //~ ERROR data-race
}

// One block sets what others count.
__global__ void plain_write(int *count) {
    if (blockIdx.x == 2)
        WRONG_OR_RIGHT(*count = 0, atomicExch(count, 0)); //~ ERROR data-race
    else
        atomicAdd(count, 1); //~ ERROR data-race
}

// A plain read decides whether the atomic is worth it.
__global__ void look_before(const int *data, int *largest) {
    int value = data[blockIdx.x] + blockIdx.x;
    if (value >= WRONG_OR_RIGHT(*largest, atomicMax(largest, 0))) atomicMax(largest, value); //~ ERROR data-race
}

// A plain read of a flag that is set by an atomic.
__global__ void read_of_a_flag(int *flag, int *out) {
    if (blockIdx.x == 0)
        atomicExch(flag, 1);
    else
        out[blockIdx.x] = WRONG_OR_RIGHT(*flag, atomicAdd(flag, 0)); //~ ERROR data-race
}

// The volatile write of one block, and the plain reads of others.
__global__ void volatile_write(int *flag, int *out) {
    if (blockIdx.x == 0)
        WRONG_OR_RIGHT(*(volatile int *)flag = 1, atomicExch(flag, 1));
    else
        out[blockIdx.x] = WRONG_OR_RIGHT(*flag, atomicAdd(flag, 0)); //~ ERROR data-race
}

// A loop around compare-and-swap may begin with a plain read of what it compares, which it reads again where the guess
// was wrong; but here the guess goes out too.
__global__ void compare_and_swap(float *sum, const float *data, unsigned *guess) {
    unsigned *place = (unsigned *)sum;
    unsigned now = *place, before; //~ ERROR data-race
    if (WRONG_OR_RIGHT(true, false)) guess[blockIdx.x] = now;
    do {
        before = now;
        now = atomicCAS(place, before, __float_as_uint(__uint_as_float(before) + data[blockIdx.x])); //~ ERROR data-race
    } while (now != before);
}

__global__ void floats(float *sum, const float *data) {
    if (blockIdx.x == 0)
        WRONG_OR_RIGHT(*sum += data[0], (void)atomicAdd(sum, data[0]));
    else
        atomicAdd(sum, data[blockIdx.x]); //~ ERROR data-race
}

__global__ void doubles(double *sum, double *out) {
    atomicAdd(sum, 1.0);
    if (blockIdx.x == gridDim.x - 1) *out = WRONG_OR_RIGHT(*sum, atomicAdd(sum, 0.0)); //~ ERROR data-race
}

__global__ void long_words(unsigned long long *sum, unsigned long long *out) {
    if (blockIdx.x < 3)
        atomicAdd(sum, 1ull << 40);
    else
        *out = WRONG_OR_RIGHT(*sum, atomicOr(sum, 0ull)); //~ ERROR data-race
}

// Two halves in one word.
__global__ void pairs_of_halves(__half2 *sum, __half2 *out) {
    if (blockIdx.x < 3)
        atomicAdd(sum, __floats2half2_rn(1, 2));
    else if (WRONG_OR_RIGHT(true, false))
        *out = *sum; //~ ERROR data-race
    else
        *out = atomicAdd(sum, __floats2half2_rn(0, 0));
}

// A short beside another, in one word: only one of them is atomic, and they do not overlap; the plain one is one too far.
__global__ void halves_of_a_word(unsigned short *both) {
    if (blockIdx.x == 0)
        atomicCAS(both, (unsigned short)0, (unsigned short)1);
    else
        both[WRONG_OR_RIGHT(0, 1)] = 2; //~ ERROR data-race
}

// In shared memory: one thread takes the sum while others add to it.
__global__ void in_shared_memory(int *out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, out[threadIdx.x]);
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x == 64) out[0] = sum; //~ ERROR data-race
}

// A place in a list is taken by an atomic, and the list is read before it is complete.
__global__ void list(int *out) {
    __shared__ int size, places[128];
    if (threadIdx.x == 0) size = 0;
    __syncthreads();
    int place = atomicAdd(&size, 1);
    places[place] = threadIdx.x; //~ ERROR data-race
    WRONG_OR_RIGHT((void)0, __syncthreads());
    if (threadIdx.x < 32) out[threadIdx.x] = places[127 - threadIdx.x];
}

int main() {
    plain_read<<<4, 1>>>(device<int>(1), device<int>(4));
    plain_write<<<4, 1>>>(device<int>(1));
    look_before<<<4, 1>>>(device<int>(4), device<int>(1));
    read_of_a_flag<<<2, 1>>>(device<int>(1), device<int>(2));
    volatile_write<<<2, 1>>>(device<int>(1), device<int>(2));
    compare_and_swap<<<3, 1>>>(device<float>(1), device<float>(3), device<unsigned>(3));
    floats<<<3, 1>>>(device<float>(1), device<float>(3));
    doubles<<<3, 1>>>(device<double>(1), device<double>(1));
    long_words<<<4, 1>>>(device<unsigned long long>(1), device<unsigned long long>(1));
    pairs_of_halves<<<4, 1>>>(device<__half2>(1), device<__half2>(1));
    halves_of_a_word<<<2, 1>>>(device<unsigned short>(2));
    in_shared_memory<<<1, 96>>>(device<int>(96));
    list<<<1, 128>>>(device<int>(32));
    return finish();
}
