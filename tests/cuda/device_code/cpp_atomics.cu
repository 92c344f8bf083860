// Atomics, barriers and other things of libcu++.
//@ variants: static shared sm_75 sm_90

#include "../expect.h"
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/tuple>

__device__ cuda::atomic<int, cuda::thread_scope_device> counter{0};

__global__ void count(int *out) {
    counter.fetch_add(1, cuda::memory_order_relaxed);
    __shared__ cuda::atomic<int, cuda::thread_scope_block> in_block;
    if (threadIdx.x == 0) in_block.store(0);
    __syncthreads();
    in_block++;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = in_block.load(cuda::memory_order_acquire);
}

// A message from one block to another.
__global__ void message(int *data, cuda::atomic<int, cuda::thread_scope_device> *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 42;
        flag->store(1, cuda::memory_order_release);
    } else {
        while (flag->load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}

__global__ void phases(int *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int sum;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        sum = 0;
    }
    __syncthreads();
    for (int phase = 0; phase < 5; phase++) {
        atomicAdd(&sum, 1);
        barrier.arrive_and_wait();
        if (sum != (phase + 1) * blockDim.x) atomicAdd(out, 1);
        barrier.arrive_and_wait();
    }
}

int main() {
    int *out, host[10] = {};
    OK(cudaMalloc(&out, sizeof host));
    count<<<10, 96>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int each : host) CHECK(each == 96);
    int total = 0;
    OK(cudaMemcpyFromSymbol(&total, counter, sizeof total));
    CHECK(total == 960);

    OK(cudaMemset(out, 0, sizeof host));
    message<<<2, 1>>>(out, (cuda::atomic<int, cuda::thread_scope_device> *)(out + 1), out + 2);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[2] == 42);
    OK(cudaMemset(out, 0, sizeof host));
    phases<<<1, 128>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 0);
    return done();
}
