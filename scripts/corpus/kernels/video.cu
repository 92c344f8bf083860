// SIMD-in-a-word functions, dot products, and the scalar video instructions.
__global__ void simd_functions(unsigned* p) {
  unsigned a = p[0], b = p[1], c = p[2];
  p[3] = __vadd2(a, b) + __vadd4(a, b) + __vaddss2(a, b) + __vaddus4(a, b) + __vsub2(a, b) + __vsubss4(a, b) + __vsubus2(a, b);
  p[4] = __vabsdiffs2(a, b) + __vabsdiffu4(a, b) + __vsads2(a, b) + __vsadu4(a, b) + __vabs2(a) + __vabsss4(a) + __vneg4(a);
  p[5] = __vmaxs2(a, b) + __vmaxu4(a, b) + __vmins4(a, b) + __vminu2(a, b) + __vavgs2(a, b) + __vavgu4(a, b) + __vhaddu4(a, b);
  p[6] = __vcmpeq2(a, b) + __vcmpgts4(a, b) + __vcmpleu2(a, b) + __vseteq4(a, b) + __vsetltu2(a, b) + __vsetges4(a, b);
  p[7] = __viaddmax_s32(a, b, c) + __vimax3_u32(a, b, c) + __vimin_s16x2_relu(a, b) + __viaddmin_u16x2(a, b, c) + __vibmax_s32(a, b, (bool*)p);
}

__global__ void dot_products(int* p, unsigned* u) {
  p[0] = __dp4a(p[1], p[2], p[3]);
  u[0] = __dp4a(u[1], u[2], u[3]);
  p[4] = __dp2a_lo(p[1], p[2], p[3]);
  u[4] = __dp2a_hi(u[1], u[2], u[3]);
  asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(p[5]) : "r"(p[1]), "r"(u[2]), "r"(p[3]));
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(p[6]) : "r"(u[1]), "r"(p[2]), "r"(p[3]));
}

#define SCALAR(text) asm volatile(text : "=r"(d) : "r"(a), "r"(b), "r"(c)); p[i++] = d;
__global__ void scalar_video(unsigned* p) {
  unsigned a = p[0], b = p[1], c = p[2], d;
  int i = 3;
  SCALAR("vadd.s32.u32.s32 %0, %1, %2;")
  SCALAR("vadd.s32.s32.s32.sat %0, %1.b0, %2.h1;")
  SCALAR("vadd.u32.s32.s32.sat.add %0, %1.b3, %2.b1, %3;")
  SCALAR("vsub.s32.u32.u32.max %0, %1.h0, %2.h1, %3;")
  SCALAR("vabsdiff.u32.u32.u32 %0.b2, %1.b0, %2.b3, %3;")
  SCALAR("vmin.s32.s32.s32 %0.h1, %1, %2, %3;")
  SCALAR("vmax.u32.u32.u32.min %0, %1.b1, %2.b2, %3;")
  SCALAR("vshl.u32.u32.u32.clamp %0, %1, %2;")
  SCALAR("vshr.u32.u32.u32.wrap.add %0, %1, %2, %3;")
  SCALAR("vmad.s32.s32.s32 %0, %1.b0, %2.b1, %3;")
  SCALAR("vmad.u32.u32.u32.po %0, %1.h0, %2.h1, %3;")
  SCALAR("vmad.s32.u32.s32.sat.shr7 %0, %1, %2.b1, -%3;")
  SCALAR("vset.s32.u32.lt %0, %1, %2;")
  SCALAR("vset.u32.u32.ge.add %0, %1.b0, %2.b1, %3;")
  SCALAR("vset.u32.s32.ne %0.h0, %1.h0, %2.h1, %3;")
  SCALAR("vadd2.s32.s32.s32 %0, %1, %2, %3;")
  SCALAR("vadd2.u32.u32.u32.sat %0.h10, %1.h32, %2.h01, %3;")
  SCALAR("vavrg2.s32.s32.s32.add %0.h10, %1, %2, %3;")
  SCALAR("vset2.s32.u32.gt %0, %1, %2, %3;")
  SCALAR("vadd4.u32.u32.u32.sat %0, %1, %2, %3;")
  SCALAR("vsub4.s32.s32.s32.add %0.b3210, %1.b4567, %2, %3;")
  SCALAR("vabsdiff4.u32.u32.u32.add %0.b3210, %1, %2, %3;")
  SCALAR("vmin4.s32.s32.s32 %0, %1, %2, %3;")
  SCALAR("vset4.u32.u32.le %0, %1, %2, %3;")
}
