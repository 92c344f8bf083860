#include "bench.h"

#if defined(__CUDACC__)

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

#elif !defined(OPENCL)

static void saxpy(Block block, int n, float a, const float *x, float *y) {
    int start = block.x * 256, end = std::min(start + 256, n);
#pragma omp simd
    for (int i = start; i < end; i++)
        y[i] = a * x[i] + y[i];
}

#endif

int main() {
    const int n = 1 << 21;
    auto x = numbers(n), y = numbers(n, 7);
    std::vector<float> expected(n);
    for (int i = 0; i < n; i++)
        expected[i] = 2 * x[i] + y[i];
    Buffer<float> device_x(x), device_y(y);
    measure([&] { device_y.write(y); }, [&] { LAUNCH(saxpy, n / 256, 256, n, 2.0f, device_x, device_y); },
            [&] { expect("y", device_y.read(), expected, 1e-6); });
}
