//@ exit: 0
//@ flags: --allow-unrepaired
//@ finds: unrepaired
#include "../memcheck/memcheck.h"

// A kernel without a serial order runs as it is, which is a warning; the other one is repaired.
__global__ void last_block(int *data, int *done) {
    data[blockIdx.x] = 1;
#ifndef FIXED
    __threadfence();
#endif
    if (atomicAdd(done, 1) == gridDim.x - 1)
        data[gridDim.x] = 7;
}

__global__ void counter(int *data) {
#ifdef FIXED
    atomicAdd(data, 1);
#else
    ++*data; //~ ERROR conflict
#endif
}

int main() {
    int seen[3], *data = device<int>(4), *done = device<int>(1);
    last_block<<<2, 1>>>(data, done);
    counter<<<1, 32>>>(data);
    OK(cudaMemcpy(seen, data, sizeof seen, cudaMemcpyDeviceToHost));
    return seen[0] == 33 && seen[1] == 1 && seen[2] == 7 ? finish() : 3;
}
