//@ flags: --recover
#include "../memcheck/memcheck.h"

// Copies that differ whenever they run are given up after three attempts.
__global__ void addresses(unsigned long long *to, int n) {
    volatile int own[2] = {(int)threadIdx.x, n};
    unsigned long long value = own[0];
    if (threadIdx.x == WRONG_OR_RIGHT(7, -1))
        value = reinterpret_cast<unsigned long long>(&own[0]);
    to[threadIdx.x] = value; //~ ERROR copies-differ
}

int main() {
    unsigned long long *to = device<unsigned long long>(32);
    addresses<<<1, 32>>>(to, 5);
    cudaError_t error = cudaDeviceSynchronize();
    return error == WRONG_OR_RIGHT(cudaErrorECCUncorrectable, cudaSuccess) ? 0 : 3;
}
