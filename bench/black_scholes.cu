#include "bench.h"

#if defined(__CUDACC__)
#define DEVICE __host__ __device__
#else
#define DEVICE static inline
#endif

DEVICE float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * expf(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

DEVICE float price(float stock, float strike, float years) {
    const float rate = 0.02f, volatility = 0.3f;
    float root = sqrtf(years);
    float d1 = (logf(stock / strike) + (rate + 0.5f * volatility * volatility) * years) / (volatility * root);
    return stock * normal(d1) - strike * expf(-rate * years) * normal(d1 - volatility * root);
}

#if defined(__CUDACC__)

__global__ void prices(const float *stock, const float *strike, const float *years, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = price(stock[i], strike[i], years[i]);
}

#elif !defined(OPENCL)

static void prices(Block block, const float *stock, const float *strike, const float *years, float *out, int n) {
    int start = block.x * 256, end = std::min(start + 256, n);
#pragma omp simd
    for (int i = start; i < end; i++)
        out[i] = price(stock[i], strike[i], years[i]);
}

#endif

int main() {
    const int n = 1 << 18;
    std::vector<float> stock(n), strike(n), years(n), expected(n);
    for (int i = 0; i < n; i++) {
        stock[i] = 5 + 25 * number(i);
        strike[i] = 1 + 99 * number(i + n);
        years[i] = 0.25f + 9.75f * number(i + 2 * n);
        expected[i] = price(stock[i], strike[i], years[i]);
    }
    Buffer<float> device_stock(stock), device_strike(strike), device_years(years), out(n);
    measure([&] {}, [&] { LAUNCH(prices, n / 256, 256, device_stock, device_strike, device_years, out, n); },
            [&] { expect("prices", out.read(), expected, 1e-4); });
}
