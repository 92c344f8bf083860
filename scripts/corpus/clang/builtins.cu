// clang's own names for PTX instructions, its atomics, and inline assembly.
#include "cuda.h"
__global__ void shuffles(int* p, float* f) {
  unsigned m = 0xffffffff;
  p[0] = __nvvm_shfl_sync_idx_i32(m, p[1], 3, 31) + __nvvm_shfl_sync_down_i32(m, p[2], 1, 31) + __nvvm_shfl_sync_bfly_i32(m, p[3], 4, 31);
  f[0] = __nvvm_shfl_sync_up_f32(m, f[1], 1, 0);
  p[4] = __nvvm_vote_all_sync(m, p[1]) + __nvvm_vote_any_sync(m, p[2]) + __nvvm_vote_ballot_sync(m, p[3]) + __nvvm_match_any_sync_i32(m, p[5]);
  __nvvm_bar_warp_sync(m);
}
__global__ void barriers(int* p) { p[0] = __nvvm_bar0_popc(p[1]) + __nvvm_bar0_and(p[2]) + __nvvm_bar0_or(p[3]); __nvvm_barrier_sync(1); __nvvm_barrier_sync_cnt(2, 64); __nvvm_membar_cta(); __nvvm_membar_gl(); __nvvm_membar_sys(); }
__global__ void arithmetic(float* f, double* d, int* p, unsigned* u) {
  f[0] = __nvvm_fma_rz_f(f[1], f[2], f[3]) + __nvvm_sqrt_approx_ftz_f(f[1]) + __nvvm_sin_approx_f(f[2]) + __nvvm_ex2_approx_f(f[3]) + __nvvm_fmin_f(f[1], f[2]) + __nvvm_saturate_f(f[1]) + __nvvm_rcp_rp_f(f[2]) + __nvvm_div_approx_f(f[1], f[2]);
  d[0] = __nvvm_fma_rm_d(d[1], d[2], d[3]) + __nvvm_rsqrt_approx_d(d[1]) + __nvvm_ceil_d(d[2]) + __nvvm_fabs_d(d[3]);
  p[0] = __nvvm_mulhi_i(p[1], p[2]) + __nvvm_f2i_rn(f[1]) + __nvvm_d2i_hi(d[1]) + __nvvm_prmt(u[0], u[1], 0x3210) + __nvvm_sad_i(p[1], p[2], p[3]);
  u[2] = __builtin_popcount(u[0]) + __builtin_clz(u[1]) + __builtin_ctz(u[2]) + __builtin_bitreverse32(u[3]) + __builtin_bswap32(u[4]) + __builtin_rotateleft32(u[5], u[6]);
}
__global__ void atomics(int* p, unsigned* u, long* l, float* f, double* d) {
  __nvvm_atom_add_gen_i(p, 1); p[1] = __nvvm_atom_cas_gen_i(p + 2, 3, 4); p[3] = __nvvm_atom_max_gen_i(p + 4, p[5]); f[0] = __nvvm_atom_add_gen_f(f + 1, f[2]); u[0] = __nvvm_atom_inc_gen_ui(u + 1, u[2]);
  d[0] = __nvvm_atom_add_gen_d(d + 1, d[2]); l[0] = __nvvm_atom_xchg_gen_l(l + 1, l[2]); __nvvm_atom_cta_add_gen_i(p + 6, 1); __nvvm_atom_sys_or_gen_i(p + 7, 1);
  __atomic_fetch_add(p + 8, 1, __ATOMIC_RELAXED); p[9] = __atomic_load_n(p + 10, __ATOMIC_RELAXED); __atomic_store_n(p + 11, 1, __ATOMIC_RELAXED);
  int e = 1; __atomic_compare_exchange_n(p + 12, &e, 2, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
__global__ void loads(const int* p, int* q, const float* f, float* g) { q[0] = __nvvm_ldg_i(p) + __nvvm_ldg_i(p + 1); g[0] = __nvvm_ldg_f(f); }
__global__ void assembly(int* p, long* l) {
  int v;
  asm("{ .reg .pred q; setp.gt.s32 q, %1, 7; selp.b32 %0, 1, %1, q; }" : "=r"(v) : "r"(p[0]));
  p[1] = v;
}
__global__ void registers(unsigned* p) {
  p[0] = __nvvm_read_ptx_sreg_laneid() + __nvvm_read_ptx_sreg_warpid() + __nvvm_read_ptx_sreg_smid() + __nvvm_read_ptx_sreg_lanemask_lt() + __nvvm_read_ptx_sreg_clock() + (unsigned)__nvvm_read_ptx_sreg_clock64() + __nvvm_read_ptx_sreg_nctaid_y() + __nvvm_read_ptx_sreg_tid_z();
}
