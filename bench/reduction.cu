#include "bench.h"

__global__ void sum(const float *in, float *out, int n) {
    __shared__ float partial[256];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += in[i];
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

int main() {
    const int n = 1 << 21, blocks = 128;
    auto in = numbers(n);
    float *din = to_device(in), *dout = to_device(std::vector<float>(blocks));
    sum<<<blocks, 256>>>(din, dout, n);
    double expected = 0, found = 0;
    for (float value : in)
        expected += value;
    for (float value : to_host(dout, blocks))
        found += value;
    check(near(found, expected), "the sum");
    measure([&] { sum<<<blocks, 256>>>(din, dout, n); });
}
