// A list of GPUs of the machine, as a job of a cluster has it, does not hide the only device.
//@ env: CUDA_VISIBLE_DEVICES=3

#include "../expect.h"

int main() {
    int count = -1;
    RETURNS(cudaSuccess, cudaGetDeviceCount(&count));
    CHECK(count == 1);
    void *pointer;
    RETURNS(cudaSuccess, cudaMalloc(&pointer, 4));
    RETURNS(cudaSuccess, cudaFree(pointer));
    return done();
}
