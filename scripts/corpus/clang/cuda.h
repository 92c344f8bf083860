// The little of CUDA's own headers that our kernels for clang need; clang is called without them.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
typedef unsigned long size_t;
static __device__ inline int thread() { return __nvvm_read_ptx_sreg_tid_x(); }
static __device__ inline int block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
static __device__ inline int threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
static __device__ inline int index() { return block() * threads() + thread(); }
static __device__ inline void barrier() { __syncthreads(); }
