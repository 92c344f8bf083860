#include "bench.h"

// One block takes 512 values through nine levels: of each level, differences go to `details` and sums go on.
const float ROOT = 0.70710678f;

#if defined(__CUDACC__)

__global__ void transform(const float *in, float *sums, float *details, int n) {
    __shared__ float values[512];
    int thread = threadIdx.x, block = blockIdx.x;
    values[thread] = in[block * 512 + thread];
    values[thread + 256] = in[block * 512 + thread + 256];
    __syncthreads();
    for (int count = 256, total = n / 2; count > 0; count /= 2, total /= 2) {
        float left, right;
        if (thread < count) {
            left = values[2 * thread];
            right = values[2 * thread + 1];
        }
        __syncthreads();
        if (thread < count) {
            values[thread] = (left + right) * ROOT;
            details[total + block * count + thread] = (left - right) * ROOT;
        }
        __syncthreads();
    }
    if (thread == 0)
        sums[block] = values[0];
}

#elif !defined(OPENCL)

static void transform(Block block, const float *in, float *sums, float *details, int n) {
    float values[512], next[256];
    std::copy(in + block.x * 512, in + block.x * 512 + 512, values);
    for (int count = 256, total = n / 2; count > 0; count /= 2, total /= 2) {
#pragma omp simd
        for (int thread = 0; thread < count; thread++) {
            float left = values[2 * thread], right = values[2 * thread + 1];
            next[thread] = (left + right) * ROOT;
            details[total + block.x * count + thread] = (left - right) * ROOT;
        }
        std::copy(next, next + count, values);
    }
    sums[block.x] = values[0];
}

#endif

int main() {
    const int n = 1 << 20, blocks = n / 512;
    auto in = numbers(n);
    std::vector<double> sums(in.begin(), in.end()), details(n);
    while (sums.size() > blocks / 512) {
        size_t half = sums.size() / 2;
        for (size_t i = 0; i < half; i++) {
            double left = sums[2 * i], right = sums[2 * i + 1];
            details[half + i] = (left - right) * M_SQRT1_2;
            sums[i] = (left + right) * M_SQRT1_2;
        }
        sums.resize(half);
    }
    Buffer<float> device_in(in), first(blocks), second(blocks / 512), device_details(n);
    auto transform_twice = [&] {
        LAUNCH(transform, blocks, 256, device_in, first, device_details, n);
        LAUNCH(transform, blocks / 512, 256, first, second, device_details, blocks);
    };
    measure([&] {}, transform_twice, [&] {
        expect("sums", second.read(), sums, 1e-5);
        expect("details", device_details.read(), details, 1e-4);
    });
}
