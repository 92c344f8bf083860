//@ flags: --exchange slots --pair-distance 1
#include "../memcheck/memcheck.h"

// Twins are neighbours, and exchange through shared memory: what differs is found as between lanes that are sixteen apart.
__global__ void addresses(unsigned long long *to, int *other, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    volatile int own[2] = {thread, n};
    unsigned long long value = own[thread & 1];
    if (thread == WRONG_OR_RIGHT(37, -1))
        value = reinterpret_cast<unsigned long long>(&own[0]);
    to[thread] = value; //~ ERROR copies-differ
    other[thread] = 2 * thread;
}

int main() {
    unsigned long long *to = device<unsigned long long>(64);
    int *other = device<int>(64);
    addresses<<<2, 32>>>(to, other, 5);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != WRONG_OR_RIGHT(cudaErrorECCUncorrectable, cudaSuccess))
        return 3;
    return 0;
}
