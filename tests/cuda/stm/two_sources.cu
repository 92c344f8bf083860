// Kernels of two sources that are linked share the locks: their transactions exclude each other.
//@ tools: no
//@ variants: rdc
//@ with: parts/other_source.cu

#include "../expect.h"
#include <warpgrind/tx.cuh>

__device__ void increment_elsewhere(int *counter);

__global__ void increment(int *counter, int rounds) {
    for (int round = 0; round < rounds; round++) {
        if (threadIdx.x % 2 == 0) {
            increment_elsewhere(counter);
        } else {
            warpgrind::atomically([&](warpgrind::tx &t) { t.write(counter, t.read(counter) + 1); });
        }
    }
}

int main() {
    int *counter;
    OK(cudaMallocManaged(&counter, sizeof *counter));
    *counter = 0;
    increment<<<2, 32>>>(counter, 4);
    OK(cudaDeviceSynchronize());
    CHECK(*counter == 2 * 32 * 4);
    return done();
}
