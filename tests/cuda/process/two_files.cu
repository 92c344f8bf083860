// A program of two files whose device code calls and uses that of the other.
//@ with: parts/two_files_other.cu
//@ variants: rdc

#include "../expect.h"

extern __device__ int shared_variable;
extern __constant__ int table[4];
__device__ int from_other_file(int x);
int launch_in_other_file();

__global__ void use(int *out) { out[threadIdx.x] = from_other_file(threadIdx.x) + shared_variable + table[threadIdx.x % 4]; }

int main() {
    int *out, host[8];
    OK(cudaMalloc(&out, sizeof host));
    use<<<1, 8>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) CHECK(host[i] == i * 3 + 100 + (i % 4 + 1) * 10);
    CHECK(launch_in_other_file() == 101);
    use<<<1, 8>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 111);
    return done();
}
