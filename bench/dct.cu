#include "bench.h"

// Transforms squares of 8 × 8 pixels, one in a block: cosines × pixels × transposed cosines.
#if defined(__CUDACC__)

__global__ void transform(const float *in, const float *cosines, float *out, int width) {
    __shared__ float half[8][8];
    int x = threadIdx.x, y = threadIdx.y, corner = blockIdx.y * 8 * width + blockIdx.x * 8;
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += cosines[y * 8 + k] * in[corner + k * width + x];
    half[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += half[y][k] * cosines[x * 8 + k];
    out[corner + y * width + x] = sum;
}

#elif !defined(OPENCL)

static void transform(Block block, const float *in, const float *cosines, float *out, int width) {
    float half[8][8];
    int corner = block.y * 8 * width + block.x * 8;
    for (int y = 0; y < 8; y++)
#pragma omp simd
        for (int x = 0; x < 8; x++) {
            float sum = 0;
            for (int k = 0; k < 8; k++)
                sum += cosines[y * 8 + k] * in[corner + k * width + x];
            half[y][x] = sum;
        }
    for (int y = 0; y < 8; y++)
#pragma omp simd
        for (int x = 0; x < 8; x++) {
            float sum = 0;
            for (int k = 0; k < 8; k++)
                sum += half[y][k] * cosines[x * 8 + k];
            out[corner + y * width + x] = sum;
        }
}

#endif

int main() {
    const int width = 512, height = 512;
    auto in = numbers(width * height);
    std::vector<float> cosines(64);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            cosines[y * 8 + x] = float((y == 0 ? sqrt(0.125) : 0.5) * cos((2 * x + 1) * y * M_PI / 16));
    std::vector<double> expected(width * height);
    for (int i = 0; i < width * height; i++) {
        int x = i % width, y = i / width, corner = y / 8 * 8 * width + x / 8 * 8;
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 8; k++)
                expected[i] += double(cosines[y % 8 * 8 + j]) * in[corner + j * width + k] * cosines[x % 8 * 8 + k];
    }
    Buffer<float> device_in(in), device_cosines(cosines), out(width * height);
    dim3 grid(width / 8, height / 8), block(8, 8);
    measure([&] {}, [&] { LAUNCH(transform, grid, block, device_in, device_cosines, out, width); },
            [&] { expect("coefficients", out.read(), expected, 1e-5); });
}
