// A program of two files that share nothing on the device, each with kernels and variables of the same names.
//@ with: parts/two_files_apart_other.cu
//@ variants: static shared rdc

#include "../expect.h"

static __device__ int variable = 1;
static __global__ void kernel(int *out) { *out = variable; }
int value_in_other_file();

int main() {
    int *out, value = 0;
    OK(cudaMalloc(&out, sizeof(int)));
    kernel<<<1, 1>>>(out);
    OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 1);
    CHECK(value_in_other_file() == 2);
    kernel<<<1, 1>>>(out);
    OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 1);
    return done();
}
