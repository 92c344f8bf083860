//@ finds: copies-differ
//@ flags: --variant kernel
#include "../memcheck/memcheck.h"

// A counter in memory of the host that CUDA does not know of cannot be set back between two runs: they differ, as they would
// after a fault.
__global__ void count(int *to, int *counter) {
    to[3] = 5;
    to[7] = (*counter)++;
}

int main() {
    static int counter;
    int *to = device<int>(64);
    count<<<1, 1>>>(to, WRONG_OR_RIGHT(&counter, device<int>(1)));
    cudaError_t error = cudaDeviceSynchronize();
    if (error != WRONG_OR_RIGHT(cudaErrorECCUncorrectable, cudaSuccess))
        return 3;
    return 0;
}
