// Launches with a configuration and attributes, by the runtime, and by templates of its header.
//@ build: -std=c++17

#include "../expect.h"

__global__ void put(int *out, int value) { out[blockIdx.x * blockDim.x + threadIdx.x] = value; }

int main() {
    int *out, host[8] = {};
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMemset(out, 0, sizeof host));
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributePriority;
    attributes[0].val.priority = 0;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim = {1, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = 2;
    config.blockDim = 4;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 1;
    int value = 3;
    void *args[] = {&out, &value};
    OK(cudaLaunchKernelExC(&config, (const void *)put, args));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int cell : host) CHECK(cell == 3);

    config.numAttrs = 2;
    OK(cudaLaunchKernelEx(&config, put, out, 4));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int cell : host) CHECK(cell == 4);

    value = 5;
    OK(cudaLaunchKernel(put, dim3(1), dim3(8), args, 0, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int cell : host) CHECK(cell == 5);

    config.blockDim = 0;
    RETURNS(cudaErrorInvalidConfiguration, cudaLaunchKernelExC(&config, (const void *)put, args));
    RETURNS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((const void *)main, dim3(1), dim3(1), args, 0, nullptr));
    cudaFunction_t function;
    OK(cudaGetFuncBySymbol(&function, (const void *)put));
    CHECK(function != nullptr);
    return done();
}
