// Memory that nobody has written is copied to the host: a warning for each place.
//@ exit: 0
#include "memcheck.h"

__global__ void most(int *p, int n) {
    if (threadIdx.x < n) p[threadIdx.x] = 1;
}

int main() {
    int *p = fresh<int>(32), host[32];
    most<<<1, 32>>>(p, WRONG_OR_RIGHT(20, 32));
    for (int i = 0; i < 3; i++)
        cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost); //~ ERROR undefined-output
    cudaMemcpy(host, p, 20 * 4, cudaMemcpyDeviceToHost);
    int *pinned;
    cudaMallocHost((void **)&pinned, sizeof host);
    cudaMemcpyAsync(pinned, p, sizeof host, cudaMemcpyDeviceToHost); //~ ERROR undefined-output
    cudaDeviceSynchronize();
    cudaFreeHost(pinned);
    return finish();
}
