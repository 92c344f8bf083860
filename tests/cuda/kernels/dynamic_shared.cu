// More than 48 KB of dynamic shared memory must be asked for, and then can be used.

#include "../expect.h"

__global__ void reverse(int *data, int n) {
    extern __shared__ int cells[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) cells[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = cells[n - 1 - i];
}

static void run(int *data, int n) {
    int *host = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) host[i] = i;
    OK(cudaMemcpy(data, host, n * sizeof(int), cudaMemcpyHostToDevice));
    reverse<<<1, 256, n * sizeof(int)>>>(data, n);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, data, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(host[i] == n - 1 - i);
    free(host);
}

int main() {
    int *data, most = 0;
    OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(most > 48 << 10);
    OK(cudaMalloc(&data, most));
    run(data, (48 << 10) / sizeof(int));

    reverse<<<1, 256, (48 << 10) + 4>>>(data, 1);
    RETURNS(cudaErrorInvalidValue, cudaGetLastError());
    RETURNS(cudaErrorInvalidValue, cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1));
    RETURNS(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, reverse));
    CHECK(attributes.maxDynamicSharedSizeBytes == most);
    run(data, most / sizeof(int));
    reverse<<<1, 256, most + 4>>>(data, 1);
    RETURNS(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaFree(data));
    return done();
}
