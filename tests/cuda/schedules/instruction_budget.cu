// A thread that executes more instructions than `--instruction-budget` allows ends its kernel: error 702, which lasts.
//@ run: --instruction-budget 100000
//@ stderr: kernel `count(int volatile*, int)`: a thread executed more than 100000 instructions, as many as --instruction-budget allows

#include "../expect.h"

__global__ void count(volatile int *p, int rounds) {
    if (threadIdx.x == 33) {
        for (int i = 0; i < rounds; i++) {
            *p = *p + 1;
        }
    }
}

int main() {
    int *p, value = 0;
    OK(cudaMalloc(&p, sizeof(int)));
    OK(cudaMemset(p, 0, sizeof(int)));
    // Many threads, each within its budget.
    count<<<64, 256>>>(p, 1000);
    OK(cudaMemcpy(&value, p, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(value > 0);
    count<<<1, 64>>>(p, 1000000);
    RETURNS(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
    RETURNS(cudaErrorLaunchTimeout, cudaGetLastError());
    return done();
}
