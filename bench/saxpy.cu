#include "bench.h"

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main() {
    const int n = 1 << 20;
    auto x = numbers(n);
    float *dx = to_device(x), *dy = to_device(std::vector<float>(n, 1.0f));
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, dx, dy);
    auto y = to_host(dy, n);
    for (int i = 0; i < n; i += 977)
        check(near(y[i], 2 * x[i] + 1), "y");
    measure([&] { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, dx, dy); });
}
