#include "bench.h"

#if defined(__CUDACC__)
#define DEVICE __host__ __device__
#else
#define DEVICE static inline
#endif

// The gradient at the middle of nine values, of which the middle one does not count.
DEVICE unsigned char edge(int a, int b, int c, int d, int f, int g, int h, int i) {
    int across = c + 2 * f + i - a - 2 * d - g, down = g + 2 * h + i - a - 2 * b - c;
    return (unsigned char)(fminf(sqrtf(float(across * across + down * down)) * 0.5f, 255.0f));
}

DEVICE uchar4 edges(const uchar4 *in, int width, int x, int y) {
    const uchar4 *up = in + (y - 1) * width + x, *row = up + width, *down = row + width;
    uchar4 a = up[-1], b = up[0], c = up[1], d = row[-1], f = row[1], g = down[-1], h = down[0], i = down[1];
    return {edge(a.x, b.x, c.x, d.x, f.x, g.x, h.x, i.x), edge(a.y, b.y, c.y, d.y, f.y, g.y, h.y, i.y),
            edge(a.z, b.z, c.z, d.z, f.z, g.z, h.z, i.z), edge(a.w, b.w, c.w, d.w, f.w, g.w, h.w, i.w)};
}

#if defined(__CUDACC__)

__global__ void sobel(const uchar4 *in, uchar4 *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 1 && y >= 1 && x < width - 1 && y < height - 1)
        out[y * width + x] = edges(in, width, x, y);
}

#elif !defined(OPENCL)

static void sobel(Block block, const uchar4 *in, uchar4 *out, int width, int height) {
    int start = std::max(block.x * 32, 1), end = std::min(block.x * 32 + 32, width - 1);
    for (int y = std::max(block.y * 8, 1); y < std::min(block.y * 8 + 8, height - 1); y++)
#pragma omp simd
        for (int x = start; x < end; x++)
            out[y * width + x] = edges(in, width, x, y);
}

#endif

static std::vector<unsigned char> bytes(const std::vector<uchar4> &pixels) {
    std::vector<unsigned char> all;
    for (uchar4 pixel : pixels)
        all.insert(all.end(), {pixel.x, pixel.y, pixel.z, pixel.w});
    return all;
}

int main() {
    const int width = 1024, height = 512;
    std::vector<uchar4> in(width * height), expected(width * height);
    auto byte = [](unsigned i) { return (unsigned char)(number(i) * 256); };
    for (int i = 0; i < width * height; i++)
        in[i] = {byte(4 * i), byte(4 * i + 1), byte(4 * i + 2), byte(4 * i + 3)};
    for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++)
            expected[y * width + x] = edges(in.data(), width, x, y);
    Buffer<uchar4> device_in(in), out(width * height);
    dim3 block(32, 8), grid(width / 32, height / 8);
    measure([&] {}, [&] { LAUNCH(sobel, grid, block, device_in, out, width, height); },
            [&] { expect("bytes", bytes(out.read()), bytes(expected), 0, 1); });
}
