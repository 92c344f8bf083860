// Atomic operations of all types, on memory of the device, of a block, and of the host.
//@ variants: static shared sm_90 G clang

#include "../expect.h"
#include <cuda_fp16.h>

struct Cells {
    int add, sub, exch, min, max, and_, or_, xor_, cas;
    unsigned inc, dec, umin, umax;
    unsigned long long ladd, lmax, lcas;
    float fadd;
    double dadd;
    __half2 hadd;
    int shared_sum;
};

__global__ void all(Cells *c, Cells *host) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&c->add, i);
    atomicSub(&c->sub, 2);
    atomicExch(&c->exch, 77);
    atomicMin(&c->min, -i);
    atomicMax(&c->max, i);
    atomicAnd(&c->and_, ~(1 << i % 32));
    atomicOr(&c->or_, 1 << i % 32);
    atomicXor(&c->xor_, i);
    atomicInc(&c->inc, 99);
    atomicDec(&c->dec, 99);
    atomicMin(&c->umin, (unsigned)i);
    atomicMax(&c->umax, (unsigned)i | 0x80000000);
    atomicAdd(&c->ladd, 1ULL << 32);
    atomicMax(&c->lmax, (unsigned long long)i << 40);
    atomicAdd(&c->fadd, 0.5f);
    atomicAdd(&c->dadd, 0.25);
    atomicAdd(&c->hadd, __floats2half2_rn(1.0f, 0.5f));
    int seen = c->cas, before;
    do {
        before = seen;
        seen = atomicCAS(&c->cas, before, before + 3);
    } while (seen != before);
    unsigned long long old = c->lcas, assumed;
    do {
        assumed = old;
        old = atomicCAS(&c->lcas, assumed, assumed + 5);
    } while (old != assumed);
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd_block(&sum, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&c->shared_sum, sum);
    atomicAdd_system(&host->add, 1);
}

int main() {
    const int n = 8 * 64;
    Cells *c, host = {}, *pinned;
    host.umin = ~0u;
    host.and_ = -1;
    OK(cudaMalloc(&c, sizeof host));
    OK(cudaMallocHost(&pinned, sizeof host));
    pinned->add = 0;
    OK(cudaMemcpy(c, &host, sizeof host, cudaMemcpyHostToDevice));
    all<<<8, 64>>>(c, pinned);
    OK(cudaMemcpy(&host, c, sizeof host, cudaMemcpyDeviceToHost));
    int all_xor = 0;
    for (int i = 0; i < n; i++) all_xor ^= i;
    CHECK(host.add == n * (n - 1) / 2);
    CHECK(host.sub == -2 * n);
    CHECK(host.exch == 77);
    CHECK(host.min == -(n - 1) && host.max == n - 1);
    CHECK(host.and_ == 0 && host.or_ == -1 && host.xor_ == all_xor);
    CHECK(host.inc == n % 100);
    CHECK(host.dec == (100 - n % 100) % 100);
    CHECK(host.umin == 0 && host.umax == (0x80000000 | (n - 1)));
    CHECK(host.ladd == (unsigned long long)n << 32);
    CHECK(host.lmax == (unsigned long long)(n - 1) << 40);
    CHECK(host.fadd == n * 0.5f && host.dadd == n * 0.25);
    float2 half = __half22float2(host.hadd);
    CHECK(half.x == n && half.y == n * 0.5f);
    CHECK(host.cas == 3 * n && host.lcas == 5ULL * n);
    CHECK(host.shared_sum == n);
    CHECK(pinned->add == n);
    return done();
}
