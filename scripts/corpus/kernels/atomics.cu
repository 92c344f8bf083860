// The atomic functions of CUDA C++: types, scopes, memory orders.
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __device__ void integers(T* p, T v) {
  atomicAdd(p, v); atomicExch(p + 1, v); atomicMin(p + 2, v); atomicMax(p + 3, v);
  atomicAnd(p + 4, v); atomicOr(p + 5, v); atomicXor(p + 6, v);
  p[7] = atomicCAS(p + 8, v, p[9]);
}

__global__ void legacy(int* i, unsigned* u, unsigned long long* l, float* f, double* d, unsigned short* s) {
  integers(i, i[10]); integers(u, u[10]); integers(l, l[10]);
  u[11] = atomicInc(u + 12, 7u); u[13] = atomicDec(u + 14, 7u); i[11] = atomicSub(i + 12, 3);
  f[0] = atomicAdd(f + 1, f[2]); f[3] = atomicExch(f + 4, f[5]); d[0] = atomicAdd(d + 1, d[2]);
  s[0] = atomicCAS(s + 1, s[2], s[3]);
}

__global__ void halves(__half* h, __half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2) {
  atomicAdd(h, h[1]); h2[0] = atomicAdd(h2 + 1, h2[2]);
  atomicAdd(b, b[1]); b2[0] = atomicAdd(b2 + 1, b2[2]);
}

__global__ void scopes(int* i, unsigned long long* l, float* f) {
  atomicAdd_block(i, 1); atomicAdd_system(i + 1, 1); i[2] = atomicCAS_block(i + 3, 1, 2);
  l[0] = atomicMax_system(l + 1, l[2]); atomicExch_block(l + 3, l[4]); f[0] = atomicAdd_system(f + 1, f[2]);
}

__global__ void in_shared(int* out) {
  __shared__ int bins[64];
  __shared__ unsigned long long wide;
  __shared__ float sum;
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[out[threadIdx.x] & 63], 1);
  atomicMin(&wide, (unsigned long long)threadIdx.x);
  atomicAdd(&sum, 1.0f);
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x & 63] + (int)wide + (int)sum;
}

__global__ void ordered(int* i, cuda::atomic<int, cuda::thread_scope_device>* a, cuda::std::atomic<unsigned long long>* b,
                        cuda::atomic<char, cuda::thread_scope_block>* c) {
  cuda::atomic_ref<int, cuda::thread_scope_system> r(*i);
  r.fetch_add(1, cuda::memory_order_relaxed);
  int expected = r.load(cuda::memory_order_acquire);
  r.compare_exchange_weak(expected, 5, cuda::memory_order_acq_rel);
  r.store(expected, cuda::memory_order_release);
  a->fetch_max(3, cuda::memory_order_seq_cst);
  a->store(7);
  *i += a->exchange(9, cuda::memory_order_acquire) + (int)b->fetch_sub(2) + c->fetch_or(1);
  a->wait(3);
  a->notify_all();
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
}

#if __CUDA_ARCH__ >= 900
struct alignas(16) Pair { unsigned long long low, high; };
__global__ void vectors(float2* f2, float4* f4, Pair* p) {
  f2[0] = atomicAdd(f2 + 1, f2[2]);
  atomicAdd(f4, f4[1]);
  p[0] = atomicCAS(p + 1, p[2], p[3]);
  p[4] = atomicExch(p + 5, p[6]);
}
#endif
