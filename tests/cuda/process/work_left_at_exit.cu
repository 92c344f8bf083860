// A program that ends while a kernel still runs ends: nobody waits for it.
//@ stdout: leaving
// A tool waits for it, for a minute: one of them is enough.
//@ tools: traffic

#include <cstdio>
#include <cstdlib>

__global__ void forever(volatile int *p) {
    while (*p == 0) {}
}

int main() {
    int *p;
    cudaMalloc(&p, sizeof(int));
    cudaMemset(p, 0, sizeof(int));
    forever<<<2, 64>>>(p);
    printf("leaving\n");
    exit(0);
}
