//@ flags: --variant inter
#include "../memcheck/memcheck.h"

// Blocks are twins. Threads read a counter that others of their block change meanwhile: copies may read different numbers, as
// after a fault. The repaired program says that it reads what others write, so that one copy reads it for both.
__global__ void races(int *to, int *count) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    int seen = *const_cast<volatile int *>(count);
#else
    int seen = *count;
#endif
    to[thread] = seen + 1; //~ ERROR copies-differ
    atomicAdd(count, 1);
}

int main() {
    int *to = device<int>(128), *count = device<int>(1);
    OK(cudaMemset(count, 0, sizeof(int)));
    races<<<2, 64>>>(to, count);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != WRONG_OR_RIGHT(cudaErrorECCUncorrectable, cudaSuccess))
        return 3;
    return 0;
}
