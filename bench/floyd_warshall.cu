#include "bench.h"

// Paths through node k; row and column k do not change in this step.
#if defined(__CUDACC__)

__global__ void relax(int *distances, int *through, int n, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int other = distances[y * n + k] + distances[k * n + x];
    if (other < distances[y * n + x]) {
        distances[y * n + x] = other;
        through[y * n + x] = k;
    }
}

#elif !defined(OPENCL)

static void relax(Block block, int *distances, int *through, int n, int k) {
    for (int y = block.y * 16; y < block.y * 16 + 16; y++) {
        int to_k = distances[y * n + k];
#pragma omp simd
        for (int x = block.x * 16; x < block.x * 16 + 16; x++) {
            int other = to_k + distances[k * n + x];
            if (other < distances[y * n + x]) {
                distances[y * n + x] = other;
                through[y * n + x] = k;
            }
        }
    }
}

#endif

int main() {
    const int n = 256;
    std::vector<int> distances(n * n), through(n * n, -1);
    for (int i = 0; i < n * n; i++)
        distances[i] = i / n == i % n ? 0 : 1 + int(number(i) * 1000);
    auto expected = distances, expected_through = through;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n * n; i++) {
            int other = expected[i / n * n + k] + expected[k * n + i % n];
            if (other < expected[i]) {
                expected[i] = other;
                expected_through[i] = k;
            }
        }
    Buffer<int> device_distances(distances), device_through(through);
    auto prepare = [&] {
        device_distances.write(distances);
        device_through.write(through);
    };
    dim3 grid(n / 16, n / 16), block(16, 16);
    auto all = [&] {
        for (int k = 0; k < n; k++)
            LAUNCH(relax, grid, block, device_distances, device_through, n, k);
    };
    measure(prepare, all, [&] {
        expect("distances", device_distances.read(), expected);
        expect("nodes", device_through.read(), expected_through);
    });
}
