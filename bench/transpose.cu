#include "bench.h"

__global__ void transpose(const float *in, float *out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

int main() {
    const int n = 1024;
    auto in = numbers(n * n);
    float *din = to_device(in), *dout = to_device(std::vector<float>(n * n));
    dim3 grid(n / 32, n / 32), block(32, 8);
    transpose<<<grid, block>>>(din, dout, n);
    auto out = to_host(dout, n * n);
    for (int i = 0; i < n * n; i += 1009)
        check(out[i] == in[i % n * n + i / n], "an element");
    measure([&] { transpose<<<grid, block>>>(din, dout, n); });
}
