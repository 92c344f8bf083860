#include "bench.h"

#if defined(__CUDACC__)

// Compares and swaps pairs that are `distance` apart; runs of 2 << stage elements are sorted up and down in turn.
__global__ void compare(unsigned *values, int stage, int distance_log) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, distance = 1 << distance_log;
    int left = (i >> distance_log << (distance_log + 1)) + (i & (distance - 1)), right = left + distance;
    unsigned a = values[left], b = values[right];
    bool is_up = (i >> stage & 1) == 0;
    if ((a > b) == is_up) {
        values[left] = b;
        values[right] = a;
    }
}

#elif !defined(OPENCL)

static void compare(Block block, unsigned *values, int stage, int distance_log) {
    int distance = 1 << distance_log, run = std::min(distance, 256);
    for (int i = block.x * 256; i < block.x * 256 + 256; i += run) {
        unsigned *left = values + (i >> distance_log << (distance_log + 1)) + (i & (distance - 1));
        unsigned *right = left + distance;
        bool is_up = (i >> stage & 1) == 0;
#pragma omp simd
        for (int j = 0; j < run; j++) {
            unsigned a = left[j], b = right[j], low = std::min(a, b), high = std::max(a, b);
            left[j] = is_up ? low : high;
            right[j] = is_up ? high : low;
        }
    }
}

#endif

int main() {
    const int log = 16, n = 1 << log;
    std::vector<unsigned> values(n);
    for (int i = 0; i < n; i++)
        values[i] = unsigned(number(i) * (1 << 24));
    auto expected = values;
    std::sort(expected.begin(), expected.end());
    Buffer<unsigned> device_values(values);
    auto sort = [&] {
        for (int stage = 0; stage < log; stage++)
            for (int distance_log = stage; distance_log >= 0; distance_log--)
                LAUNCH(compare, n / 2 / 256, 256, device_values, stage, distance_log);
    };
    measure([&] { device_values.write(values); }, sort, [&] { expect("values", device_values.read(), expected); });
}
