// The exit code of a program is its own.
//@ exit: 77
//@ stdout: leaving with 77

#include <cstdio>
#include <cstdlib>

__global__ void nothing() {}

int main() {
    nothing<<<1, 1>>>();
    cudaDeviceSynchronize();
    printf("leaving with 77\n");
    exit(77);
}
