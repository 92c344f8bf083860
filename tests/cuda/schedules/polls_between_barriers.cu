// Threads of a block look together whether another block has come so far, with a barrier in each round: the other block must begin.
#include "../expect.h"

__global__ void meet(int *arrived, int *rounds) {
    __shared__ int count;
    if (threadIdx.x == 0) atomicAdd(arrived, 1);
    int round = 0;
    do {
        __syncthreads();
        if (threadIdx.x == 0) count = atomicAdd(arrived, 0);
        __syncthreads();
        ++round;
    } while (count < gridDim.x);
    if (threadIdx.x == 0) rounds[blockIdx.x] = round;
}

int main() {
    int *arrived, *rounds, host[40] = {};
    OK(cudaMalloc(&arrived, sizeof(int)));
    OK(cudaMalloc(&rounds, sizeof host));
    OK(cudaMemset(arrived, 0, sizeof(int)));
    meet<<<40, 256>>>(arrived, rounds);
    OK(cudaMemcpy(host, rounds, sizeof host, cudaMemcpyDeviceToHost));
    for (int count : host) CHECK(count > 0);
    return done();
}
