// The kind of source that programs assemble at run time: templates chosen by name, constants passed as
// macros, and no host headers.
#ifndef TILE
#define TILE 16
#endif
#include <cuda_fp16.h>

template <typename T, int N> __device__ T horner(const T (&c)[N], T x) {
  T r = c[N - 1];
#pragma unroll
  for (int i = N - 2; i >= 0; i--) r = r * x + c[i];
  return r;
}

template <typename T> __global__ void polynomial(const T* x, T* y, int n) {
  const T c[5] = {T(1), T(2), T(3), T(4), T(5)};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = horner(c, x[i]);
}
template __global__ void polynomial<float>(const float*, float*, int);
template __global__ void polynomial<double>(const double*, double*, int);

extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void half_scale(__half2* p, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = __hmul2(p[i], __float2half2_rn(by));
}

extern "C" __global__ void reduce(const float* in, float* out, int n) {
  __shared__ float warps[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  for (int s = 16; s; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
    for (int s = 16; s; s /= 2) v += __shfl_xor_sync(~0u, v, s);
    if (threadIdx.x == 0) atomicAdd(out, v);
  }
}
