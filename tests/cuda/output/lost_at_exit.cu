// What a kernel printed is lost if nothing of CUDA waits for the kernel: the end of the program does not.
//@ stdout: waited for

#include <cstdio>

__global__ void say(int n) { printf(n ? "waited for\n" : "not waited for\n"); }

int main() {
    say<<<1, 1>>>(1);
    cudaDeviceSynchronize();
    say<<<1, 1>>>(0);
    while (cudaStreamQuery(0) == cudaErrorNotReady) {}
    return 0;
}
