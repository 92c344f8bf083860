// What a thread costs in a launch of `threads` threads, and a byte in a sum over `bytes` bytes: the cost per thread and
// per byte should not depend on how many there are. Memory is filled by the device, so that it is the only copy.
#include "bench.h"

__global__ void fill(float *values, size_t n, float value) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * size_t(blockDim.x))
        values[i] = value;
}

__global__ void saxpy(size_t n, float a, const float *x, float *y) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void sum(const float *in, float *sums, size_t n) {
    float mine = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * size_t(blockDim.x))
        mine += in[i];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

static float *filled(size_t n, float value) {
    float *values;
    OK(cudaMalloc(&values, n * sizeof(float)));
    fill<<<256, 256>>>(values, n, value);
    return values;
}

static float at(const float *values, size_t i) {
    float value;
    OK(cudaMemcpy(&value, values + i, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static void check_ends(const float *values, size_t n, float expected) {
    for (size_t i : {size_t(0), n / 2, n - 1})
        if (at(values, i) != expected)
            fail("value " + std::to_string(i) + " is " + std::to_string(at(values, i)));
}

int main(int count, char **arguments) {
    if (count != 3)
        fail("usage: scaling threads|bytes COUNT");
    size_t n = strtoull(arguments[2], nullptr, 10);
    if (std::string(arguments[1]) == "threads") {
        float *x = filled(n, 1), *y = filled(n, 1);
        int launches = 0;
        auto launch = [&] {
            saxpy<<<unsigned((n + 255) / 256), 256>>>(n, 2, x, y);
            launches++;
        };
        measure([] {}, launch, [&] { check_ends(y, n, 1 + 2 * launches); });
    } else {
        const size_t threads = 1 << 16;
        n /= sizeof(float);
        float *in = filled(n, 1), *sums = filled(threads, 0);
        measure([] {}, [&] { sum<<<threads / 256, 256>>>(in, sums, n); }, [&] { check_ends(sums, threads, n / threads); });
    }
}
