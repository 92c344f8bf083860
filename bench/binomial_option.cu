#include "bench.h"

// One block prices one option with a tree of STEPS steps, in two arrays that take turns.
const int STEPS = 254;
const float STRIKE = 50, RATE = 0.02f, VOLATILITY = 0.3f;

#if defined(__CUDACC__)

__global__ void prices(const float *stock, const float *years, float *out) {
    __shared__ float even[256], odd[256];
    int thread = threadIdx.x;
    float step = years[blockIdx.x] / STEPS, jump = VOLATILITY * sqrtf(step);
    float up = expf(jump), down = 1 / up, grow = expf(RATE * step);
    float rise = (grow - down) / (up - down) / grow, fall = 1 / grow - rise;
    even[thread] = fmaxf(stock[blockIdx.x] * expf(jump * (2 * thread - STEPS)) - STRIKE, 0.0f);
    __syncthreads();
    for (int left = STEPS; left > 0; left -= 2) {
        if (thread < left)
            odd[thread] = rise * even[thread + 1] + fall * even[thread];
        __syncthreads();
        if (thread < left - 1)
            even[thread] = rise * odd[thread + 1] + fall * odd[thread];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = even[0];
}

#elif !defined(OPENCL)

static void prices(Block block, const float *stock, const float *years, float *out) {
    float even[256], odd[256];
    float step = years[block.x] / STEPS, jump = VOLATILITY * sqrtf(step);
    float up = expf(jump), down = 1 / up, grow = expf(RATE * step);
    float rise = (grow - down) / (up - down) / grow, fall = 1 / grow - rise;
#pragma omp simd
    for (int thread = 0; thread < 256; thread++)
        even[thread] = fmaxf(stock[block.x] * expf(jump * (2 * thread - STEPS)) - STRIKE, 0.0f);
    for (int left = STEPS; left > 0; left -= 2) {
#pragma omp simd
        for (int thread = 0; thread < left; thread++)
            odd[thread] = rise * even[thread + 1] + fall * even[thread];
#pragma omp simd
        for (int thread = 0; thread < left - 1; thread++)
            even[thread] = rise * odd[thread + 1] + fall * odd[thread];
    }
    out[block.x] = even[0];
}

#endif

int main() {
    const int n = 256;
    std::vector<float> stock(n), years(n);
    std::vector<double> expected(n);
    for (int i = 0; i < n; i++) {
        stock[i] = 20 + 60 * number(i);
        years[i] = 0.25f + 2 * number(i + n);
        double step = double(years[i]) / STEPS, jump = VOLATILITY * sqrt(step);
        double up = exp(jump), grow = exp(RATE * step), rise = (grow - 1 / up) / (up - 1 / up);
        std::vector<double> tree(STEPS + 1);
        for (int leaf = 0; leaf <= STEPS; leaf++)
            tree[leaf] = std::max(stock[i] * exp(jump * (2 * leaf - STEPS)) - STRIKE, 0.0);
        for (int left = STEPS; left > 0; left--)
            for (int node = 0; node < left; node++)
                tree[node] = (rise * tree[node + 1] + (1 - rise) * tree[node]) / grow;
        expected[i] = tree[0];
    }
    Buffer<float> device_stock(stock), device_years(years), out(n);
    measure([&] {}, [&] { LAUNCH(prices, n, 256, device_stock, device_years, out); },
            [&] { expect("prices", out.read(), expected, 1e-3); });
}
