// All blocks of a grid that fits on a GPU wait for the last one.
#include <cstdio>

__global__ void wait_for_last(volatile int *flag) {
    if (blockIdx.x == gridDim.x - 1)
        *flag = 1;
    else
        while (*flag == 0) {}
}

int main() {
    int *flag;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    wait_for_last<<<100, 32>>>(flag);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaFree(flag);
    puts("PASS");
}
