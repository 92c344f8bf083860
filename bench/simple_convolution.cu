#include "bench.h"

#if defined(__CUDACC__)

__global__ void convolve(const float *in, const float *weights, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2)
        return;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += weights[(dy + 2) * 5 + dx + 2] * in[(y + dy) * width + x + dx];
    out[y * width + x] = sum;
}

#elif !defined(OPENCL)

static void convolve(Block block, const float *in, const float *weights, float *out, int width, int height) {
    int start = std::max(block.x * 32, 2), end = std::min(block.x * 32 + 32, width - 2);
    for (int y = std::max(block.y * 8, 2); y < std::min(block.y * 8 + 8, height - 2); y++)
#pragma omp simd
        for (int x = start; x < end; x++) {
            float sum = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++)
                    sum += weights[(dy + 2) * 5 + dx + 2] * in[(y + dy) * width + x + dx];
            out[y * width + x] = sum;
        }
}

#endif

int main() {
    const int width = 1024, height = 512;
    auto in = numbers(width * height), weights = numbers(25, 3);
    std::vector<double> expected(width * height);
    for (int y = 2; y < height - 2; y++)
        for (int x = 2; x < width - 2; x++)
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++)
                    expected[y * width + x] += weights[(dy + 2) * 5 + dx + 2] * in[(y + dy) * width + x + dx];
    Buffer<float> device_in(in), device_weights(weights), out(width * height);
    dim3 block(32, 8), grid(width / 32, height / 8);
    measure([&] {}, [&] { LAUNCH(convolve, grid, block, device_in, device_weights, out, width, height); },
            [&] { expect("pixels", out.read(), expected, 1e-5); });
}
