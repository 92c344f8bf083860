#include "../memcheck/memcheck.h"

// The loop of the CUDA C++ Programming Guide: its first read is plain, and only a guess.
__global__ void sum(double *to) {
    unsigned long long *word = (unsigned long long *)to, old = *word, expected;
    do {
        expected = old;
        old = atomicCAS(word, expected, __double_as_longlong(__longlong_as_double(expected) + threadIdx.x));
    } while (expected != old);
}

// Here a result depends on the plain read.
__global__ void first_come(int *last, int *before) {
    int old = WRONG_OR_RIGHT(*last, atomicAdd(last, 0)); //~ ERROR data-race
    atomicCAS(last, blockIdx.x, blockIdx.x + 1); //~ ERROR data-race
    before[blockIdx.x] = old;
}

int main() {
    sum<<<4, 64>>>(device<double>(1));
    first_come<<<64, 1>>>(device<int>(1), device<int>(64));
    return finish();
}
