// Built for a default stream of each thread, kernels without a stream of two threads run at once.
//@ variants: ptds

#include "../expect.h"
#include <thread>

__global__ void ping(volatile int *mine, volatile int *other) {
    *mine = 1;
    while (*other == 0) {}
}

int main() {
    int *flags;
    OK(cudaMalloc(&flags, 2 * sizeof(int)));
    OK(cudaMemset(flags, 0, 2 * sizeof(int)));
    OK(cudaDeviceSynchronize());
    cudaStream_t legacy = cudaStreamLegacy;
    auto run = [&](int own) {
        ping<<<1, 1>>>(flags + own, flags + 1 - own);
        OK(cudaGetLastError());
        OK(cudaStreamSynchronize(0));
    };
    std::thread other(run, 1);
    run(0);
    other.join();
    // The legacy stream can still be named.
    OK(cudaMemsetAsync(flags, 0, 8, legacy));
    OK(cudaStreamSynchronize(legacy));
    unsigned long long own = 0, of_legacy = 0;
    OK(cudaStreamGetId(0, &own));
    OK(cudaStreamGetId(legacy, &of_legacy));
    CHECK(own != of_legacy);
    return done();
}
