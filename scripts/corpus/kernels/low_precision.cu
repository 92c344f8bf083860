// Arithmetic and conversions of the small floating-point types: half, bfloat16, fp8, fp6, fp4.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

__global__ void half_arithmetic(__half* p, __half2* q, float* f) {
  __half a = p[0], b = p[1], c = p[2];
  p[3] = __hadd(a, b) + __hsub_sat(a, b) * __hfma(a, b, c) / __hmax(a, b) - __hmin_nan(a, b);
  p[4] = hsqrt(a) + hrsqrt(b) + hexp(c) + hexp2(a) + hlog(b) + hlog10(c) + hsin(a) + hcos(b) + hrcp(c) + htanh(a) + htanh_approx(a);
  p[5] = hfloor(a) + hceil(b) + htrunc(c) + hrint(a) + __habs(b) + __hneg(c) + __hfma_relu(a, b, c) + __hfma_sat(a, b, c);
  q[1] = __hfma2(q[0], q[2], q[3]) + __hadd2_sat(q[0], q[2]) + h2sqrt(q[3]) + __lows2half2(q[0], q[1]) + __lowhigh2highlow(q[2]);
  q[2] = __hgt2(q[0], q[1]) + __hne2(q[0], q[1]) + __hmax2(q[0], q[1]) + __hcmadd(q[0], q[1], q[2]);
  f[0] = __half2float(a) + (__hisnan(b) ? 1.0f : 0.0f) + (__hbgt2(q[0], q[1]) ? 2.0f : 0.0f) + (__hltu(a, b) ? 1.0f : 0.0f);
  unsigned m = __hgt2_mask(q[0], q[1]);
  f[1] = m;
}

__global__ void half_conversions(__half* p, float* f, double* d, int* i, unsigned* u, long long* l, unsigned short* s) {
  p[0] = __float2half_rn(f[0]); p[1] = __float2half_rz(f[0]); p[2] = __float2half_ru(f[0]); p[3] = __float2half_rd(f[0]);
  p[4] = __double2half(d[0]); p[5] = __int2half_rz(i[0]); p[6] = __uint2half_ru(u[0]); p[7] = __ll2half_rn(l[0]); p[8] = __ushort2half_rn(s[0]);
  i[1] = __half2int_rz(p[9]); u[1] = __half2uint_rd(p[9]); l[1] = __half2ll_ru(p[9]); s[1] = __half2ushort_rn(p[9]);
  ((__half2*)p)[8] = __floats2half2_rn(f[2], f[3]);
  s[2] = __half_as_ushort(p[10]);
}

#if __CUDA_ARCH__ >= 800
__global__ void bfloat_arithmetic(__nv_bfloat16* p, __nv_bfloat162* q, float* f) {
  __nv_bfloat16 a = p[0], b = p[1], c = p[2];
  p[3] = __hadd(a, b) * __hfma(a, b, c) - __hmax(a, b) / __hmin(b, c);
  p[4] = hsqrt(a) + hexp(b) + hlog2(c) + hsin(a) + htanh(b) + hrcp(c) + hfloor(a) + __hfma_relu(a, b, c);
  q[1] = __hfma2(q[0], q[2], q[3]) + __hmul2(q[0], q[2]) + h2exp(q[3]) + __hmax2(q[0], q[2]);
  f[0] = __bfloat162float(a); p[5] = __float2bfloat16_rn(f[1]); p[6] = __float2bfloat16_rz(f[1]); p[7] = __double2bfloat16(f[1]);
  q[2] = __floats2bfloat162_rn(f[2], f[3]);
  f[4] = __bfloat162int_rz(a) + __bfloat162ull_rn(b);
}
#endif

__global__ void fp8(__nv_fp8_storage_t* p, __nv_fp8x2_storage_t* q, float* f, float2* f2, double* d, __half_raw* h, __half2_raw* h2, __nv_bfloat16_raw* b) {
  p[0] = __nv_cvt_float_to_fp8(f[0], __NV_SATFINITE, __NV_E4M3); p[1] = __nv_cvt_float_to_fp8(f[0], __NV_NOSAT, __NV_E5M2);
  p[2] = __nv_cvt_halfraw_to_fp8(h[0], __NV_SATFINITE, __NV_E5M2); p[3] = __nv_cvt_double_to_fp8(d[0], __NV_SATFINITE, __NV_E4M3);
  p[4] = __nv_cvt_bfloat16raw_to_fp8(b[0], __NV_SATFINITE, __NV_E4M3);
  q[0] = __nv_cvt_float2_to_fp8x2(f2[0], __NV_SATFINITE, __NV_E4M3); q[1] = __nv_cvt_halfraw2_to_fp8x2(h2[0], __NV_SATFINITE, __NV_E5M2);
  h[1] = __nv_cvt_fp8_to_halfraw(p[5], __NV_E4M3); h2[1] = __nv_cvt_fp8x2_to_halfraw2(q[2], __NV_E5M2);
  f[1] = float(__nv_fp8_e4m3(f[2])) + float(__nv_fp8_e5m2(f[3])) + float(__nv_fp8_e8m0(f[4]));
}

__global__ void fp6_fp4(__nv_fp6_storage_t* p, __nv_fp4_storage_t* q, __nv_fp6x2_storage_t* p2, __nv_fp4x2_storage_t* q2, float* f, float2* f2, __half2_raw* h2) {
  p[0] = __nv_cvt_float_to_fp6(f[0], __NV_E2M3, cudaRoundNearest); p[1] = __nv_cvt_float_to_fp6(f[0], __NV_E3M2, cudaRoundNearest);
  p2[0] = __nv_cvt_float2_to_fp6x2(f2[0], __NV_E3M2, cudaRoundNearest); h2[0] = __nv_cvt_fp6x2_to_halfraw2(p2[1], __NV_E2M3);
  q[0] = __nv_cvt_float_to_fp4(f[0], __NV_E2M1, cudaRoundNearest); q2[0] = __nv_cvt_float2_to_fp4x2(f2[0], __NV_E2M1, cudaRoundNearest);
  h2[1] = __nv_cvt_fp4x2_to_halfraw2(q2[1], __NV_E2M1);
}
