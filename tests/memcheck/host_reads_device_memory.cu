// Code of the host follows a device pointer. On a machine with a GPU that is a segmentation fault, and so it is here.
#include "memcheck.h"


__global__ void set(int *p) { p[threadIdx.x] = threadIdx.x; }

int main() {
    int *p = device<int>(32);
    set<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
#ifdef FIXED
    int copy[32];
    OK(cudaMemcpy(copy, p, sizeof copy, cudaMemcpyDeviceToHost));
    printf("%d\n", copy[3]);
#else
    printf("%d\n", p[3]); //~ ERROR host-access
#endif
    return finish();
}
