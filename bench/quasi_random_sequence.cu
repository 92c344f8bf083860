#include "bench.h"

// Sobol's sequence: a number is the exclusive or of the directions of its dimension that the bits of its index name.
#if defined(__CUDACC__)

__global__ void sequence(const unsigned *directions, float *out, int n) {
    __shared__ unsigned mine[32];
    if (threadIdx.x < 32)
        mine[threadIdx.x] = directions[blockIdx.y * 32 + threadIdx.x];
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, bits = 0;
    for (int k = 0; k < 32; k++)
        bits ^= (i >> k & 1) * mine[k];
    out[blockIdx.y * n + i] = bits * (1.0f / 4294967296.0f);
}

#elif !defined(OPENCL)

static void sequence(Block block, const unsigned *directions, float *out, int n) {
    unsigned mine[32];
    std::copy(directions + block.y * 32, directions + block.y * 32 + 32, mine);
#pragma omp simd
    for (int thread = 0; thread < 256; thread++) {
        unsigned i = block.x * 256 + thread, bits = 0;
        for (int k = 0; k < 32; k++)
            bits ^= (i >> k & 1) * mine[k];
        out[block.y * n + i] = bits * (1.0f / 4294967296.0f);
    }
}

#endif

int main() {
    const int n = 1 << 16, dimensions = 16;
    std::vector<unsigned> directions(dimensions * 32);
    for (int dimension = 0; dimension < dimensions; dimension++)
        for (int k = 0; k < 32; k++) {
            unsigned odd = dimension == 0 ? 1 : unsigned(number(dimension * 32 + k) * (1u << std::min(k, 24))) * 2 + 1;
            directions[dimension * 32 + k] = odd << (31 - k);
        }
    std::vector<float> expected(dimensions * n);
    for (int i = 0; i < dimensions * n; i++) {
        unsigned bits = 0;
        for (int k = 0; k < 32; k++)
            if (unsigned(i % n) >> k & 1)
                bits ^= directions[i / n * 32 + k];
        expected[i] = bits * (1.0f / 4294967296.0f);
    }
    Buffer<unsigned> device_directions(directions);
    Buffer<float> out(dimensions * n);
    measure([&] {}, [&] { LAUNCH(sequence, dim3(n / 256, dimensions), 256, device_directions, out, n); },
            [&] { expect("numbers", out.read(), expected, 1e-6); });
}
