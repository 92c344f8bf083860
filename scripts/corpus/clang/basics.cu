// Loads, stores, loops and shared memory as clang's NVPTX back end writes them.
#include "cuda.h"
typedef float float4 __attribute__((ext_vector_type(4)));
typedef double double2 __attribute__((ext_vector_type(2)));

__constant__ float table[64];
__device__ int counter = 5;
__device__ int* to_counter = &counter;

__global__ void saxpy(const float* x, float* y, float a, int n) { int i = index(); if (i < n) y[i] = a * x[i] + y[i]; }
__global__ void vectors(const float4* __restrict__ in, float4* out, double2* d) { out[index()] = in[index()] * in[0]; d[index()] += d[0].yx; }
__global__ void small(char* c, short* s, bool* b, long* l, __fp16* h) {
  int i = index();
  c[i] += c[0]; s[i] *= s[1]; b[i] = !b[i]; l[i] /= l[1]; h[i] = h[0] * h[1];
}
__global__ void __launch_bounds__(256, 2) reduce(const float* in, float* out) {
  __shared__ float s[256];
  int t = thread();
  s[t] = in[index()] + table[t & 63];
  for (int k = threads() / 2; k; k /= 2) { barrier(); if (t < k) s[t] += s[t + k]; }
  if (t == 0) out[block()] = s[0];
}
struct Big { int a[30]; double d; char c; };
__global__ void by_value(Big b, int k, Big* out) { b.a[k] = *to_counter; out[index()] = b; }
__global__ void wide(__int128* p) { p[2] = p[0] * p[1] + (p[0] >> 3); }
__global__ void locals(const int* in, int* out, int k) { int a[40]; for (int i = 0; i < 40; i++) a[i] = in[i]; out[index()] = a[k]; }
