// A grid of 2^20 blocks runs to its end, each block once.

#include "../expect.h"
#include <vector>

__global__ void mark(unsigned char *seen) {
    if (threadIdx.x == 0) seen[blockIdx.x] += 1;
}

int main() {
    const int blocks = 1 << 20;
    unsigned char *seen;
    OK(cudaMalloc(&seen, blocks));
    OK(cudaMemset(seen, 0, blocks));
    mark<<<blocks, 32>>>(seen);
    std::vector<unsigned char> host(blocks);
    OK(cudaMemcpy(host.data(), seen, blocks, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (unsigned char times : host) wrong += times != 1;
    CHECK(wrong == 0);
    return done();
}
