// CUB: a reduction by a block, and a scan and a reduction by the device.

#include "../expect.h"
#include <cub/cub.cuh>

__global__ void block_sum(const int *in, int *out) {
    typedef cub::BlockReduce<int, 128> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    int sum = Reduce(storage).Sum(in[blockIdx.x * 128 + threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

int main() {
    const int n = 10000;
    static int host[n], found[n];
    int *in, *out;
    for (int i = 0; i < n; i++) host[i] = i % 13 - 3;
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    block_sum<<<4, 128>>>(in, out);
    OK(cudaMemcpy(found, out, 4 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int block = 0; block < 4; block++) {
        int sum = 0;
        for (int i = 0; i < 128; i++) sum += host[block * 128 + i];
        CHECK(found[block] == sum);
    }

    size_t bytes = 0;
    void *storage = nullptr;
    OK(cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n));
    OK(cudaMalloc(&storage, bytes));
    OK(cub::DeviceScan::InclusiveSum(storage, bytes, in, out, n));
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += host[i];
        CHECK(found[i] == sum);
    }
    OK(cudaFree(storage));

    OK(cub::DeviceReduce::Max(nullptr, bytes, in, out, n));
    OK(cudaMalloc(&storage, bytes));
    OK(cub::DeviceReduce::Max(storage, bytes, in, out, n));
    OK(cudaMemcpy(found, out, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(found[0] == 9);
    return done();
}
