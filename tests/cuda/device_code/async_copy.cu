// Copies to shared memory that go on while the threads do: memcpy_async of cooperative groups, and pipelines.
//@ variants: static shared sm_75 sm_90

#include "../expect.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

__global__ void grouped(const int *in, int *out) {
    __shared__ int cells[256];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, cells, in + blockIdx.x * 256, sizeof cells);
    cg::wait(block);
    out[blockIdx.x * 256 + threadIdx.x] = cells[255 - threadIdx.x] * 2;
}

__global__ void pipelined(const int4 *in, int4 *out, int stages) {
    __shared__ int4 cells[2][64];
    __pipeline_memcpy_async(&cells[0][threadIdx.x], in + threadIdx.x, sizeof(int4));
    __pipeline_commit();
    for (int stage = 0; stage < stages; stage++) {
        if (stage + 1 < stages) {
            __pipeline_memcpy_async(&cells[(stage + 1) % 2][threadIdx.x], in + (stage + 1) * 64 + threadIdx.x, sizeof(int4));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        int4 v = cells[stage % 2][63 - threadIdx.x];
        out[stage * 64 + threadIdx.x] = make_int4(v.w, v.z, v.y, v.x);
        __syncthreads();
    }
}

int main() {
    const int n = 1024;
    int host[n], found[n], *in, *out;
    for (int i = 0; i < n; i++) host[i] = i * 3;
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    grouped<<<4, 256>>>(in, out);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(found[i] == host[i / 256 * 256 + 255 - i % 256] * 2);
    pipelined<<<1, 64>>>((const int4 *)in, (int4 *)out, 4);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(found[i] == host[i / 256 * 256 + 255 - i % 256]);
    return done();
}
