// CUDA_VISIBLE_DEVICES says which devices there are, and in which order.
//@ run: --gpu a100,t4,h100
//@ env: CUDA_VISIBLE_DEVICES=2,0

#include <cstring>

#include "../expect.h"

int main() {
    int count = 0;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 2);
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    CHECK(strcmp(properties.name, "NVIDIA H100 80GB HBM3") == 0 && properties.pciBusID == 3);
    OK(cudaGetDeviceProperties(&properties, 1));
    CHECK(strcmp(properties.name, "NVIDIA A100-SXM4-40GB") == 0 && properties.pciBusID == 1);
    RETURNS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 2));
    return done();
}
