// Floating-point arithmetic and the mathematical library, in single and double precision.
template <class T> __device__ void functions(T* p) {
  T a = p[0], b = p[1], c = p[2];
  p[3] = sin(a) + cos(b) + tan(c) + asin(a) + acos(b) + atan(c) + atan2(a, b) + sinh(a) + cosh(b) + tanh(c) + asinh(a) + acosh(b) + atanh(c);
  p[4] = exp(a) + exp2(b) + exp10(c) + expm1(a) + log(b) + log2(c) + log10(a) + log1p(b) + pow(a, b) + sqrt(c) + rsqrt(a) + cbrt(b) + hypot(a, b);
  p[5] = floor(a) + ceil(b) + trunc(c) + round(a) + rint(b) + nearbyint(c) + fmod(a, b) + remainder(b, c) + fdim(a, c) + fmax(a, b) + fmin(b, c) + fabs(c);
  p[6] = erf(a) + erfc(b) + erfinv(c) + tgamma(a) + lgamma(b) + j0(a) + y1(b) + normcdf(c) + sinpi(a) + cospi(b) + rhypot(a, b) + norm3d(a, b, c);
  p[7] = fma(a, b, c) + copysign(a, b) + nextafter(b, c) + ldexp(a, (int)b) + scalbn(b, 3) + logb(c) + a / b + 1 / c;
  int e; T i;
  p[8] = frexp(a, &e) + modf(b, &i) + e + i + ilogb(c) + isnan(a) + isinf(b) + signbit(c) + (a < b) + (a != c) + lrint(a) + llround(b);
}
__global__ void single_precision(float* p) { functions(p); }
__global__ void double_precision(double* p) { functions(p); }

__global__ void rounding(float* f, double* d) {
  f[0] = __fadd_rn(f[1], f[2]) + __fadd_rz(f[1], f[2]) + __fadd_ru(f[1], f[2]) + __fadd_rd(f[1], f[2]) + __fmul_rz(f[1], f[2]) + __fmaf_ru(f[1], f[2], f[3]);
  f[4] = __fdiv_rn(f[1], f[2]) + __fdiv_ru(f[1], f[2]) + __frcp_rd(f[1]) + __fsqrt_rz(f[2]) + __frsqrt_rn(f[3]) + __saturatef(f[1]);
  f[5] = __sinf(f[1]) + __cosf(f[2]) + __expf(f[3]) + __logf(f[1]) + __powf(f[1], f[2]) + __fdividef(f[1], f[2]) + __exp10f(f[3]) + __tanf(f[1]) + __log2f(f[2]);
  d[0] = __dadd_rz(d[1], d[2]) + __dmul_ru(d[1], d[2]) + __fma_rd(d[1], d[2], d[3]) + __ddiv_rn(d[1], d[2]) + __drcp_rz(d[1]) + __dsqrt_rd(d[2]);
}

__global__ void conversions(float* f, double* d, int* i, unsigned* u, long long* l, unsigned long long* m, char* c, unsigned char* b, short* s, unsigned short* w) {
  i[0] = (int)f[0]; u[0] = (unsigned)f[0]; l[0] = (long long)f[0]; m[0] = (unsigned long long)f[0]; c[0] = (char)f[0]; b[0] = (unsigned char)f[0]; s[0] = (short)f[0]; w[0] = (unsigned short)f[0];
  i[1] = (int)d[0]; u[1] = (unsigned)d[0]; l[1] = (long long)d[0]; m[1] = (unsigned long long)d[0]; f[1] = (float)d[0]; d[1] = f[0];
  f[2] = i[2]; f[3] = u[2]; f[4] = l[2]; f[5] = m[2]; f[6] = c[1]; f[7] = b[1]; d[2] = i[2]; d[3] = u[2]; d[4] = l[2]; d[5] = m[2]; d[6] = s[1]; d[7] = w[1];
  l[3] = i[3]; l[4] = u[3]; i[4] = c[2]; i[5] = b[2]; i[6] = s[2]; u[4] = w[2]; c[3] = (char)i[3]; s[3] = (short)l[5];
  i[7] = __float2int_rn(f[8]) + __float2int_ru(f[8]) + __double2int_rd(d[8]) + __float_as_int(f[9]) + __double2hiint(d[9]) + __double2loint(d[9]);
  l[6] = __float2ll_rz(f[8]) + __double2ll_ru(d[8]) + __double_as_longlong(d[9]);
  f[10] = __int2float_rz(i[8]) + __ull2float_rd(m[3]) + __double2float_ru(d[9]) + __int_as_float(i[9]);
  d[10] = __ll2double_rz(l[7]) + __hiloint2double(i[1], i[2]) + __longlong_as_double(l[8]);
}

__global__ void by_assembly(float* f, double* d) {
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(f[0]) : "f"(f[1]));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f[2]) : "f"(f[1]));
  asm("tanh.approx.f32 %0, %1;" : "=f"(f[3]) : "f"(f[1]));
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(d[0]) : "d"(d[1]));
  asm("div.full.f32 %0, %1, %2;" : "=f"(f[4]) : "f"(f[1]), "f"(f[5]));
  asm("{ .reg .pred p; testp.subnormal.f32 p, %1; selp.f32 %0, 1.0, 0f3F000000, p; }" : "=f"(f[6]) : "f"(f[1]));
  asm("copysign.f64 %0, %1, 0d3FF0000000000000;" : "=d"(d[2]) : "d"(d[1]));
  asm("set.ltu.f32.f32 %0, %1, %2;" : "=f"(f[7]) : "f"(f[1]), "f"(f[5]));
  asm("fma.rn.ftz.sat.f32 %0, %1, %2, 0f80000000;" : "=f"(f[8]) : "f"(f[1]), "f"(f[5]));
}
