// Trials of every model, many in one process: the program, which looks at its memory, goes on as if they had not been. Its kernels
// have loops, shared memory, barriers, a function, atomic operations, and registers of 16, 32 and 64 bits.
//@ trials: --model single-bit --trials 2000 => trials=2000
//@ trials: --model double-bit --trials 200 => trials=200
//@ trials: --model random-value --trials 200 => trials=200
//@ trials: --model zero-value --trials 200 => trials=200
//@ trials: --model register-file --trials 200 => trials=200
//@ trials: --model predicate --trials 200 => trials=200
//@ trials: --model address --trials 500 => trials=500
//@ trials: --model store-data --trials 200 => trials=200
//@ trials: --model skip --trials 200 => trials=200
//@ trials: --model thread-id --trials 200 => trials=200
//@ trials: --model memory-cell --trials 200 => trials=200
//@ trials: --model warp-wide --trials 200 => trials=200
//@ trials: --model stuck-lane --trials 100 => trials=100
//@ trials: --model permanent --trials 100 => trials=100
//@ trials: --trials 200 --kernel-name sum --launch-skip 1 --launch-count 1 => trials=200
//@ trials: --trials 100 --with rmt --kernel-name sum => escaped=0 outcomes.sdc>20
//@ trials: --model register-file --trials 20 --verdict program => trials=20
//@ trials: --model stuck-lane --trials 10 --verdict program => trials=10
//@ gpu: --model single-bit --trials 2 => trials=2
//@ gpu: --model double-bit --trials 2 => trials=2
//@ gpu: --model random-value --trials 2 => trials=2
//@ gpu: --model zero-value --trials 2 => trials=2
//@ gpu: --model register-file --trials 4 => trials=4 differ=1
//@ gpu: --model predicate --trials 2 => trials=2
//@ gpu: --model address --trials 2 => trials=2
//@ gpu: --model store-data --trials 2 => trials=2
//@ gpu: --model skip --trials 2 => trials=2
//@ gpu: --model thread-id --trials 2 => trials=2
//@ gpu: --model memory-cell --trials 2 => trials=2
//@ gpu: --model warp-wide --trials 2 => trials=2
//@ gpu: --model stuck-lane --trials 2 => trials=2
//@ gpu: --model permanent --trials 2 => trials=2
#include "common.h"

__device__ __noinline__ double square(double x) { return x * x; }

__global__ void sum(double *out, const short *in, int count) {
    __shared__ double part[64];
    double total = 0;
    for (int i = threadIdx.x; i < count; i += 64)
        total += square(in[i]);
    part[threadIdx.x] = total;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

__global__ void histogram(unsigned *bins, const short *in, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(&bins[in[i] & 15], 1u);
}

int main() {
    const int count = 1000;
    std::vector<short> values(count);
    double expected = 0;
    unsigned bins[16] = {};
    for (int i = 0; i < count; i++) {
        values[i] = short(i * 7 % 101);
        expected += double(values[i]) * values[i];
        bins[values[i] & 15]++;
    }
    short *in;
    double *out;
    unsigned *device_bins;
    ok(cudaMalloc(&in, count * sizeof(short)));
    ok(cudaMalloc(&out, 3 * sizeof(double)));
    ok(cudaMalloc(&device_bins, sizeof bins));
    ok(cudaMemcpy(in, values.data(), count * sizeof(short), cudaMemcpyHostToDevice));
    ok(cudaMemset(device_bins, 0, sizeof bins));
    for (int launch = 0; launch < 3; launch++)
        sum<<<3, 64>>>(out, in, count);
    histogram<<<16, 64>>>(device_bins, in, count);
    double sums[3];
    unsigned found[16];
    std::vector<short> after(count);
    ok(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
    ok(cudaMemcpy(found, device_bins, sizeof found, cudaMemcpyDeviceToHost));
    ok(cudaMemcpy(after.data(), in, count * sizeof(short), cudaMemcpyDeviceToHost));
    for (double sum : sums)
        if (sum != expected)
            return 1;
    for (int bin = 0; bin < 16; bin++)
        if (found[bin] != bins[bin])
            return 2;
    return after == values ? 0 : 4;
}
