// A trap is error 719, which lasts; before it, all is well.
//@ stderr: kernel `stop(int)`: trap (block [0, 0, 0], thread [7, 0, 0]

#include "../expect.h"

__global__ void stop(int when) {
    if (threadIdx.x == when) __trap();
}

int main() {
    stop<<<2, 32>>>(100);
    OK(cudaDeviceSynchronize());
    stop<<<2, 32>>>(7);
    RETURNS(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    RETURNS(cudaErrorLaunchFailure, cudaGetLastError());
    RETURNS(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    return done();
}
