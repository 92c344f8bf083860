#include "bench.h"

__global__ void histogram(const unsigned char *data, unsigned *out, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

int main() {
    const int n = 1 << 20;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> expected(256);
    for (int i = 0; i < n; i++)
        expected[data[i] = (unsigned char)(255.99f * number(i))]++;
    unsigned char *din = to_device(data);
    unsigned *dout = to_device(std::vector<unsigned>(256));
    histogram<<<64, 256>>>(din, dout, n);
    check(to_host(dout, 256) == expected, "the bins");
    measure([&] { histogram<<<64, 256>>>(din, dout, n); });
}
