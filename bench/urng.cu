#include "bench.h"

// Noise on an image: each thread runs a generator of Park and Miller with a table of Bays and Durham in shared memory.
const int TABLE = 16;

#if defined(__CUDACC__)
#define DEVICE __host__ __device__
#else
#define DEVICE static inline
#endif

DEVICE int next(int state) {
    int high = state / 127773;
    state = 16807 * (state - high * 127773) - 2836 * high;
    return state < 0 ? state + 2147483647 : state;
}

DEVICE float random_number(int state, int *table) {
    for (int j = TABLE; j >= 0; j--) {
        state = next(state);
        if (j < TABLE)
            table[j] = state;
    }
    return table[table[0] / (1 + 2147483646 / TABLE)] * (1.0f / 2147483647.0f);
}

DEVICE unsigned char moved(unsigned char value, float by) {
    return (unsigned char)(fminf(fmaxf(value + by, 0.0f), 255.0f));
}

DEVICE uchar4 noisy(uchar4 pixel, int i, int *table) {
    float by = (random_number(1 + pixel.x + pixel.y + pixel.z + pixel.w + 1024 * i, table) - 0.55f) * 30;
    return {moved(pixel.x, by), moved(pixel.y, by), moved(pixel.z, by), moved(pixel.w, by)};
}

#if defined(__CUDACC__)

__global__ void noise(const uchar4 *in, uchar4 *out) {
    __shared__ int tables[64 * TABLE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = noisy(in[i], i, tables + threadIdx.x * TABLE);
}

#elif !defined(OPENCL)

static void noise(Block block, const uchar4 *in, uchar4 *out) {
    int tables[64 * TABLE];
#pragma omp simd
    for (int thread = 0; thread < 64; thread++) {
        int i = block.x * 64 + thread;
        out[i] = noisy(in[i], i, tables + thread * TABLE);
    }
}

#endif

static std::vector<unsigned char> bytes(const std::vector<uchar4> &pixels) {
    std::vector<unsigned char> all;
    for (uchar4 pixel : pixels)
        all.insert(all.end(), {pixel.x, pixel.y, pixel.z, pixel.w});
    return all;
}

int main() {
    const int n = 512 * 512;
    std::vector<uchar4> in(n), expected(n);
    auto byte = [](unsigned i) { return (unsigned char)(number(i) * 256); };
    for (int i = 0; i < n; i++) {
        in[i] = {byte(4 * i), byte(4 * i + 1), byte(4 * i + 2), byte(4 * i + 3)};
        int table[TABLE];
        expected[i] = noisy(in[i], i, table);
    }
    Buffer<uchar4> device_in(in), out(n);
    measure([&] {}, [&] { LAUNCH(noise, n / 64, 64, device_in, out); },
            [&] { expect("bytes", bytes(out.read()), bytes(expected), 0, 1); });
}
