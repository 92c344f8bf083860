//@ exit: 0
#include "../memcheck/memcheck.h"

// Blocks that store to global memory: through a pointer that may be one to any memory, by an atomic operation, in a function,
// in grids of all three dimensions. Stores to shared memory do not count.
__device__ __noinline__ void store(int *to, int value) {
    *to = value;
}

__global__ void every_third(int *to) {
    __shared__ int tile[32];
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    store(block % 3 == 0 && threadIdx.x == 5 ? to + block : tile + threadIdx.x, block);
}

__global__ void count_large(int *count, const int *of, int bound) {
    if (of[blockIdx.x] > bound)
        atomicAdd(count, 1);
}

__global__ void nothing(int *to, bool does) {
    if (does)
        to[0] = 1;
}

int main() {
    int *to = device<int>(1000);
    every_third<<<dim3(7, 5, 3), 32>>>(to);
    every_third<<<dim3(4), 32>>>(to);
    int values[20];
    for (int n = 0; n < 20; ++n)
        values[n] = n;
    int *of = device<int>(20);
    cudaMemcpy(of, values, sizeof values, cudaMemcpyHostToDevice);
    count_large<<<20, 64>>>(to, of, WRONG_OR_RIGHT(12, 12));
    nothing<<<9, 32>>>(to, false);
    return finish();
}
