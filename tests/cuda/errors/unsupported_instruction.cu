// An instruction that the CPU device does not have is refused at the launch, by name, and other kernels run.
//@ stderr: multimem.red
//@ variants: sm_90

#include "../expect.h"

__global__ void modern(int *p) { asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory"); }
__global__ void plain(int *p) { *p = 1; }

int main() {
    modern<<<1, 128>>>(nullptr);
    RETURNS(cudaErrorNotSupported, cudaGetLastError());
    OK(cudaDeviceSynchronize());
    int *p, value = 0;
    OK(cudaMalloc(&p, sizeof(int)));
    plain<<<1, 1>>>(p);
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 1);
    return done();
}
