//@ exit: 87
//@ flags: --tool memcheck
#include "../memcheck/memcheck.h"

// A kernel whose blocks cannot be doubled runs as it was launched, and another one of the same module is doubled.
__global__ void ids(int *to) {
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    to[blockIdx.x * blockDim.x * blockDim.y * blockDim.z + thread] = blockDim.z * 100 + thread;
}

__global__ void whole(int *to) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = tile[63 - threadIdx.x] + __syncthreads_count(1);
}

int main() {
    const int threads = WRONG_OR_RIGHT(33, 64);
    int *to = device<int>(2 * threads), *other = device<int>(64);
    ids<<<2, threads>>>(to);
    whole<<<1, 64>>>(other);
    OK(cudaDeviceSynchronize());
    int seen[2 * 64], of_whole[64];
    OK(cudaMemcpy(seen, to, 2 * threads * sizeof(int), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(of_whole, other, sizeof of_whole, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 2 * threads; ++i)
        if (seen[i] != 100 + i % threads)
            return 3;
    for (int i = 0; i < 64; ++i)
        if (of_whole[i] != 63 - i + 64)
            return 4;
    return finish();
}
