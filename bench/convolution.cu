#include "bench.h"

__constant__ float weights[5][5];

__global__ void convolve(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2)
        return;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += weights[dy + 2][dx + 2] * in[(y + dy) * width + x + dx];
    out[y * width + x] = sum;
}

int main() {
    const int width = 1024, height = 512;
    auto in = numbers(width * height), w = numbers(25, 3);
    OK(cudaMemcpyToSymbol(weights, w.data(), sizeof weights));
    float *din = to_device(in), *dout = to_device(std::vector<float>(width * height));
    dim3 block(32, 8), grid(width / 32, height / 8);
    convolve<<<grid, block>>>(din, dout, width, height);
    auto out = to_host(dout, width * height);
    for (int i = 0; i < 100; i++) {
        int x = 2 + i * 7, y = 2 + i * 5;
        double sum = 0;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++)
                sum += w[(dy + 2) * 5 + dx + 2] * in[(y + dy) * width + x + dx];
        check(near(out[y * width + x], sum), "a pixel");
    }
    measure([&] { convolve<<<grid, block>>>(din, dout, width, height); });
}
