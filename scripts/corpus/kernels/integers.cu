// Integer arithmetic of every width, with the bit-field, carry and 128-bit forms.
template <class T> __device__ void arithmetic(T* p) {
  T a = p[0], b = p[1];
  p[2] = a + b; p[3] = a - b; p[4] = a * b; p[5] = a / b; p[6] = a % b; p[7] = a & b; p[8] = a | b; p[9] = a ^ b;
  p[10] = ~a; p[11] = -a; p[12] = a << (b & 7); p[13] = a >> (b & 7); p[14] = a < b ? a : b; p[15] = a > b ? a : b;
  p[16] = a == b; p[17] = !a; p[18] = a / 7; p[19] = a % 10; p[20] = a * 1000; p[21] = a < 0 ? -a : a;
}
#define KERNEL(name, type) __global__ void name(type* p) { arithmetic(p); }
KERNEL(s8, signed char) KERNEL(u8, unsigned char) KERNEL(s16, short) KERNEL(u16, unsigned short)
KERNEL(s32, int) KERNEL(u32, unsigned) KERNEL(s64, long long) KERNEL(u64, unsigned long long)
KERNEL(s128, __int128) KERNEL(u128, unsigned __int128)

__global__ void intrinsics(int* p, unsigned* u, long long* l, unsigned long long* m) {
  p[0] = __mulhi(p[1], p[2]) + __mul24(p[1], p[2]) + __sad(p[1], p[2], u[0]) + __hadd(p[1], p[2]) + __rhadd(p[1], p[2]);
  u[1] = __umulhi(u[2], u[3]) + __umul24(u[2], u[3]) + __usad(u[2], u[3], u[4]) + __brev(u[2]) + __popc(u[3]) + __clz(p[1]) + __ffs(p[2]);
  u[5] = __byte_perm(u[2], u[3], 0x5410) + __funnelshift_l(u[2], u[3], u[4]) + __funnelshift_rc(u[2], u[3], u[4]) + __fns(u[2], u[3], p[1]);
  l[0] = __mul64hi(l[1], l[2]) + __clzll(l[1]) + __popcll(m[1]) + __ffsll(l[2]);
  m[0] = __umul64hi(m[1], m[2]) + __brevll(m[1]);
  m[2] = (unsigned long long)u[2] * u[3]; l[3] = (long long)p[1] * p[2] + l[4];
}

__global__ void by_assembly(unsigned* u, unsigned long long* m) {
  unsigned a = u[0], b = u[1], c = u[2], d, e, f;
  asm("{ add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %3, %5; addc.u32 %2, %4, %5; }" : "=r"(d), "=r"(e), "=r"(f) : "r"(a), "r"(b), "r"(c));
  u[3] = d; u[4] = e; u[5] = f;
  asm("{ sub.cc.s32 %0, %3, %4; subc.cc.s32 %1, %3, %5; subc.s32 %2, %4, %5; }" : "=r"(d), "=r"(e), "=r"(f) : "r"(a), "r"(b), "r"(c));
  u[6] = d; u[7] = e; u[8] = f;
  asm("{ mad.lo.cc.u32 %0, %3, %4, %5; madc.hi.cc.u32 %1, %3, %4, %5; madc.lo.u32 %2, %4, %5, %3; }" : "=r"(d), "=r"(e), "=r"(f) : "r"(a), "r"(b), "r"(c));
  u[9] = d; u[10] = e; u[11] = f;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); u[12] = d;
  asm("bfi.b32 %0, %1, %2, %3, 5;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); u[13] = d;
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(d) : "r"(a)); u[14] = d;
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); u[15] = d;
  asm("szext.wrap.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); u[16] = d;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); u[17] = d;
  asm("{ .reg .pred p, q; setp.lt.u32 p|q, %1, %2; lop3.or.b32 %0|p, %1, %2, %3, 0x96, q; selp.u32 %0, 1, %0, p; }" : "=r"(d) : "r"(a), "r"(b), "r"(c)); u[18] = d;
  asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); u[19] = d;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); u[20] = d;
  asm("set.gt.and.u32.s32 %0, %1, %2, 1;" : "=r"(d) : "r"(a), "r"(b)); u[21] = d;
  asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); u[22] = d;
  asm("mad.wide.u32 %0, %1, %2, %0;" : "+l"(m[0]) : "r"(a), "r"(b));
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, l}; }" : "=r"(d) : "r"(a)); u[23] = d;
  asm("{ .reg .b8 w, x, y, z; mov.b32 {w, x, y, z}, %1; mov.b32 %0, {z, y, x, w}; }" : "=r"(d) : "r"(a)); u[24] = d;
}
