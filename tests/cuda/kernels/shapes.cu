// Grids and blocks in all three directions, large ones, and those that cannot be, which are errors that do not last.
//@ variants: static shared sm_75 sm_90 G ptds clang

#include "../expect.h"

__global__ void count(unsigned long long *sum, unsigned *most) {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    atomicAdd(sum, (unsigned long long)block * blockDim.x * blockDim.y * blockDim.z + thread);
    atomicMax(most, block);
}

static void launch(dim3 grid, dim3 block) {
    struct { unsigned long long sum; unsigned most; } host, *device;
    OK(cudaMalloc(&device, sizeof host));
    OK(cudaMemset(device, 0, sizeof host));
    count<<<grid, block>>>(&device->sum, &device->most);
    OK(cudaGetLastError());
    OK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    unsigned long long blocks = (unsigned long long)grid.x * grid.y * grid.z;
    unsigned long long n = blocks * block.x * block.y * block.z;
    CHECK(host.sum == n * (n - 1) / 2);
    CHECK(host.most == blocks - 1);
    OK(cudaFree(device));
}

static void refused(cudaError_t error, dim3 grid, dim3 block) {
    count<<<grid, block>>>(nullptr, nullptr);
    RETURNS(error, cudaGetLastError());
    OK(cudaDeviceSynchronize());
}

int main() {
    launch(1, 1);
    launch(dim3(3, 5, 7), dim3(4, 2, 3));
    launch(dim3(1, 1, 65535), 1);
    launch(dim3(1, 65535, 1), dim3(1, 2, 1));
    launch(1, 1024);
    launch(2, dim3(1, 1024, 1));
    launch(2, dim3(2, 8, 64));
    launch(3, 33);
    launch(1 << 17, 32);

    refused(cudaErrorInvalidConfiguration, 0, 1);
    refused(cudaErrorInvalidConfiguration, dim3(1, 0, 1), 1);
    refused(cudaErrorInvalidConfiguration, dim3(1, 1, 0), 1);
    refused(cudaErrorInvalidConfiguration, 1, 0);
    refused(cudaErrorInvalidConfiguration, 1, dim3(1, 1, 0));
    refused(cudaErrorInvalidConfiguration, 1, 1025);
    refused(cudaErrorInvalidConfiguration, 1, dim3(32, 33, 1));
    refused(cudaErrorInvalidConfiguration, 1, dim3(1, 1, 65));
    refused(cudaErrorInvalidConfiguration, dim3(1, 65536, 1), 1);
    refused(cudaErrorInvalidConfiguration, dim3(1, 1, 65536), 1);
    launch(2, 2);
    return done();
}
