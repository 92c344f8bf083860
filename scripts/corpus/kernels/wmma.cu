// Matrix fragments (nvcuda::wmma) of every element type and shape.
#include <mma.h>
using namespace nvcuda::wmma;

template <int M, int N, int K, class A, class C, class LA, class LB, class TA>
__device__ void multiply(const TA* a, const TA* b, C* c, int ld) {
  fragment<matrix_a, M, N, K, A, LA> fa;
  fragment<matrix_b, M, N, K, A, LB> fb;
  fragment<accumulator, M, N, K, C> fc;
  load_matrix_sync(fa, a, ld);
  load_matrix_sync(fb, b, ld);
  load_matrix_sync(fc, c, ld, mem_row_major);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, ld, mem_col_major);
}

#define KERNEL(name, M, N, K, A, C, TA) \
  __global__ void name(const TA* a, const TA* b, C* c, int ld) { \
    multiply<M, N, K, A, C, row_major, col_major>(a, b, c, ld); \
    multiply<M, N, K, A, C, col_major, row_major>(a, b, c, ld); \
  }
KERNEL(f16_f16, 16, 16, 16, __half, __half, __half)
KERNEL(f16_f32, 16, 16, 16, __half, float, __half)
KERNEL(f16_wide, 32, 8, 16, __half, float, __half)
KERNEL(f16_tall, 8, 32, 16, __half, float, __half)
KERNEL(s8, 16, 16, 16, signed char, int, signed char)
KERNEL(u8, 32, 8, 16, unsigned char, int, unsigned char)

#define SUBBYTE(name, K, A, TA) \
  __global__ void name(const TA* a, const TA* b, int* c, int ld) { multiply<8, 8, K, A, int, row_major, col_major>(a, b, c, ld); }
SUBBYTE(s4, 32, experimental::precision::s4, void)
SUBBYTE(u4, 32, experimental::precision::u4, void)

__global__ void b1(const void* a, const void* b, int* c, int ld) {
  fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> fa;
  fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> fb;
  fragment<accumulator, 8, 8, 128, int> fc;
  fill_fragment(fc, 0);
  load_matrix_sync(fa, a, ld);
  load_matrix_sync(fb, b, ld);
  bmma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, ld, mem_row_major);
}

#if __CUDA_ARCH__ >= 800
KERNEL(bf16, 16, 16, 16, __nv_bfloat16, float, __nv_bfloat16)
KERNEL(tf32, 16, 16, 8, precision::tf32, float, float)
KERNEL(f64, 8, 8, 4, double, double, double)
#endif

// Fragments in shared memory, and element by element.
__global__ void scaled(const __half* in, float* out, float alpha) {
  __shared__ __half tile[16 * 16];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, row_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0f);
  load_matrix_sync(a, tile, 16);
  load_matrix_sync(b, tile, 16);
  mma_sync(c, a, b, c);
  for (int i = 0; i < c.num_elements; i++) c.x[i] *= alpha;
  store_matrix_sync(out, c, 16, mem_row_major);
}
