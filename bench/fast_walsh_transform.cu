#include "bench.h"

#if defined(__CUDACC__)

__global__ void butterfly(float *values, int distance) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = i / distance * 2 * distance + i % distance, right = left + distance;
    float a = values[left], b = values[right];
    values[left] = a + b;
    values[right] = a - b;
}

#elif !defined(OPENCL)

static void butterfly(Block block, float *values, int distance) {
    int run = std::min(distance, 256);
    for (int i = block.x * 256; i < block.x * 256 + 256; i += run) {
        float *left = values + i / distance * 2 * distance + i % distance, *right = left + distance;
#pragma omp simd
        for (int j = 0; j < run; j++) {
            float a = left[j], b = right[j];
            left[j] = a + b;
            right[j] = a - b;
        }
    }
}

#endif

int main() {
    const int n = 1 << 18;
    auto values = numbers(n);
    std::vector<double> expected(values.begin(), values.end());
    for (int distance = 1; distance < n; distance *= 2)
        for (int i = 0; i < n; i++)
            if ((i & distance) == 0) {
                double a = expected[i], b = expected[i + distance];
                expected[i] = a + b;
                expected[i + distance] = a - b;
            }
    Buffer<float> device_values(values);
    auto transform = [&] {
        for (int distance = 1; distance < n; distance *= 2)
            LAUNCH(butterfly, n / 2 / 256, 256, device_values, distance);
    };
    measure([&] { device_values.write(values); }, transform,
            [&] { expect("values", device_values.read(), expected, 1e-2); });
}
