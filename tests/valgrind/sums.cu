// What is undefined on the host is undefined on the device, and the other way round.
#include <cstdio>
#include <cstdlib>

#ifdef FIXED
#define WRONG_OR_RIGHT(wrong, right) (right)
#else
#define WRONG_OR_RIGHT(wrong, right) (wrong)
#endif

// Adds where a mask says so: the sum is undefined only where it has an undefined number in it.
__global__ void masked(const int *values, const int *mask, int *sums, int n) {
    int i = threadIdx.x, sum = 0;
    for (int j = 0; j < n; j++)
        if (mask[j]) sum += values[j] << i;
    sums[i] = sum;
}

__global__ void mark(const int *values, int *out, int n) {
    for (int j = 0; j < n; j++)
        if (values[j] > 3) atomicAdd(&out[j], 1); // DEVICE
}

int main() {
    const int n = 32;
    int *values = (int *)malloc(n * sizeof(int)), *mask = (int *)calloc(n, sizeof(int));
    for (int i = 0; i < n - 1; i++) values[i] = i;
    if (WRONG_OR_RIGHT(0, 1)) values[n - 1] = 31;
    int *d_values, *d_mask, *d_sums;
    cudaMalloc(&d_values, n * sizeof(int));
    cudaMalloc(&d_mask, n * sizeof(int));
    cudaMalloc(&d_sums, n * sizeof(int));
    cudaMemcpy(d_values, values, n * sizeof(int), cudaMemcpyHostToDevice);
    int *sums = (int *)malloc(n * sizeof(int));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < n; i++) mask[i] = i < n - 1 + round;
        cudaMemcpyAsync(d_mask, mask, n * sizeof(int), cudaMemcpyHostToDevice);
        masked<<<1, n>>>(d_values, d_mask, d_sums, n);
        cudaMemcpy(sums, d_sums, n * sizeof(int), cudaMemcpyDeviceToHost);
        if (round == 0 && sums[0] != 465) printf("wrong\n");
        if (round == 1 && sums[0] > 465) printf("more\n"); // HOST
    }
    mark<<<1, 1>>>(d_values, d_sums, n);
    cudaDeviceSynchronize();
    free(sums);
    if (WRONG_OR_RIGHT(1, 0)) cudaMemcpy(sums, d_sums, sizeof(int), cudaMemcpyDeviceToHost); // FREED
    cudaFree(d_values);
    cudaFree(d_mask);
    cudaFree(d_sums);
    free(values);
    free(mask);
    printf("done\n");
}
