// Two runs of a kernel that reads a clock differ without any fault: its trials do not count.
//@ trials: --trials 8 => invalid=8 exit=87
//@ gpu: --trials 2 => invalid=2 exit=87
#include "common.h"

__global__ void tick(long long *out) { out[threadIdx.x] = clock64(); }

int main() {
    long long *out;
    ok(cudaMalloc(&out, 64 * sizeof(long long)));
    tick<<<1, 64>>>(out);
    ok(cudaDeviceSynchronize());
}
