//@ bugs: frees and copies what is not there
// Memory that is allocated and freed in a stream lives from the one to the other.

#include "../expect.h"

__global__ void fill(int *p, int n, int value) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = value;
}

int main() {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    int host[100];
    for (int round = 0; round < 50; round++) {
        int *p;
        OK(cudaMallocAsync(&p, sizeof host, stream));
        fill<<<1, 32, 0, stream>>>(p, 100, round);
        OK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, stream));
        OK(cudaFreeAsync(p, stream));
        OK(cudaStreamSynchronize(stream));
        CHECK(host[0] == round && host[99] == round);
    }
    int *p;
    OK(cudaMallocAsync(&p, 400, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFree(p)); // Either way of freeing is right.
    OK(cudaMalloc(&p, 400));
    OK(cudaFreeAsync(p, stream));
    OK(cudaStreamSynchronize(stream));
    RETURNS(cudaErrorInvalidValue, cudaFreeAsync(p, stream));
    OK(cudaStreamDestroy(stream));
    return done();
}
