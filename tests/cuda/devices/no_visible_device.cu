// An empty CUDA_VISIBLE_DEVICES hides all devices.
//@ run: --gpu a100,t4
//@ env: CUDA_VISIBLE_DEVICES=
//@ stderr: so the program sees none
//@ bugs: it uses no device, so nothing is checked

#include "../expect.h"

int main() {
    int count = -1;
    RETURNS(cudaErrorNoDevice, cudaGetDeviceCount(&count));
    CHECK(count == 0);
    void *pointer;
    RETURNS(cudaErrorNoDevice, cudaMalloc(&pointer, 4));
    return done();
}
