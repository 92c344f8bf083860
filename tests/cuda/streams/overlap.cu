// Kernels of two streams run at once: each waits for what the other writes.
//@ variants: static shared sm_90 ptds clang

#include "../expect.h"

__global__ void ping(volatile int *mine, volatile int *other, int rounds) {
    for (int round = 1; round <= rounds; round++) {
        *mine = round;
        while (*other < round) {}
    }
}

int main() {
    int *flags, host[2];
    OK(cudaMalloc(&flags, sizeof host));
    OK(cudaMemset(flags, 0, sizeof host));
    cudaStream_t first, second;
    OK(cudaStreamCreate(&first));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaDeviceSynchronize());
    ping<<<1, 1, 0, first>>>(flags, flags + 1, 50);
    ping<<<1, 1, 0, second>>>(flags + 1, flags, 50);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(host, flags, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 50 && host[1] == 50);
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
    RETURNS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize((cudaStream_t)0x12345));
    return done();
}
