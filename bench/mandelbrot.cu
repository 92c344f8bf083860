#include "bench.h"

__host__ __device__ int steps(float cx, float cy) {
    float x = 0, y = 0;
    int n = 0;
    while (n < 256 && x * x + y * y < 4) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        n++;
    }
    return n;
}

__global__ void mandelbrot(int *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = steps(-2 + 3.0f * x / width, -1.5f + 3.0f * y / height);
}

int main() {
    const int width = 512, height = 256;
    int *dout = to_device(std::vector<int>(width * height));
    dim3 block(32, 8), grid(width / 32, height / 8);
    mandelbrot<<<grid, block>>>(dout, width, height);
    auto out = to_host(dout, width * height);
    int different = 0;
    for (int i = 0; i < width * height; i++)
        different += abs(out[i] - steps(-2 + 3.0f * (i % width) / width, -1.5f + 3.0f * (i / width) / height)) > 8;
    check(different < width * height / 200, "the picture");
    measure([&] { mandelbrot<<<grid, block>>>(dout, width, height); });
}
