#include "bench.h"

#if defined(__CUDACC__)
#define DEVICE __host__ __device__
#else
#define DEVICE static inline
#endif

DEVICE int steps(float cx, float cy) {
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

#if defined(__CUDACC__)

__global__ void mandelbrot(int *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = steps(-2 + 3.0f * x / width, -1.5f + 3.0f * y / height);
}

#elif !defined(OPENCL)

static void mandelbrot(Block block, int *out, int width, int height) {
    for (int y = block.y * 8; y < std::min(block.y * 8 + 8, height); y++)
        for (int x = block.x * 32; x < std::min(block.x * 32 + 32, width); x++)
            out[y * width + x] = steps(-2 + 3.0f * x / width, -1.5f + 3.0f * y / height);
}

#endif

int main() {
    const int width = 512, height = 256;
    Buffer<int> out(width * height);
    dim3 block(32, 8), grid(width / 32, height / 8);
    // Points near the edge of the set take another number of steps when a sum is rounded otherwise.
    auto check = [&] {
        auto found = out.read();
        int different = 0;
        for (int i = 0; i < width * height; i++)
            different += found[i] != steps(-2 + 3.0f * (i % width) / width, -1.5f + 3.0f * (i / width) / height);
        if (different > width * height / 200)
            fail(std::to_string(different) + " points differ");
    };
    measure([&] {}, [&] { LAUNCH(mandelbrot, grid, block, out, width, height); }, check);
}
