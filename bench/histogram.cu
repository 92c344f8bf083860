#include "bench.h"

#if defined(__CUDACC__)

__global__ void histogram(const unsigned char *data, unsigned *out, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

#elif !defined(OPENCL)

static void histogram(Block block, const unsigned char *data, unsigned *out, int n) {
    unsigned bins[256] = {};
    for (int start = block.x * 256; start < n; start += block.grid.x * 256)
        for (int thread = 0; thread < 256; thread++)
            bins[data[start + thread]]++;
    for (int thread = 0; thread < 256; thread++)
        __atomic_fetch_add(&out[thread], bins[thread], __ATOMIC_RELAXED);
}

#endif

int main() {
    const int n = 1 << 20;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> expected(256);
    for (int i = 0; i < n; i++)
        expected[data[i] = (unsigned char)(255.99f * number(i))]++;
    Buffer<unsigned char> device_data(data);
    Buffer<unsigned> out(256);
    measure([&] { out.write(std::vector<unsigned>(256)); }, [&] { LAUNCH(histogram, 64, 256, device_data, out, n); },
            [&] { expect("bins", out.read(), expected); });
}
