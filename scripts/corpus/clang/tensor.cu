// Matrix and asynchronous-copy builtins of clang, for sm_80 and later.
#include "cuda.h"
__global__ void matrices(const int* a, const int* b, float* c) {
  int fa[8], fb[8]; float fc[8];
  __hmma_m16n16k16_ld_a(fa, a, 16, 0);
  __hmma_m16n16k16_ld_b(fb, b, 16, 1);
  __hmma_m16n16k16_ld_c_f32(fc, c, 16, 0);
  __hmma_m16n16k16_mma_f32f32(fc, fa, fb, fc, 0, 0);
  __hmma_m16n16k16_st_c_f32(c, fc, 16, 0);
}
__global__ void integers(const int* a, const int* b, int* c) {
  int fa[2], fb[2], fc[8];
  __imma_m16n16k16_ld_a_s8(fa, a, 16, 0);
  __imma_m16n16k16_ld_b_s8(fb, b, 16, 0);
  __imma_m16n16k16_ld_c(fc, c, 16, 0);
  __imma_m16n16k16_mma_s8(fc, fa, fb, fc, 1, 0);
  __imma_m16n16k16_st_c_i32(c, fc, 16, 0);
}
__global__ void copies(const int* in, int* out) {
  __shared__ int s[512];
  typedef __attribute__((address_space(3))) void* shared_pointer;
  typedef const __attribute__((address_space(1))) void* global_pointer;
  __nvvm_cp_async_ca_shared_global_4((shared_pointer)(s + thread()), (global_pointer)(in + thread()));
  __nvvm_cp_async_cg_shared_global_16((shared_pointer)(s + 4 * thread()), (global_pointer)(in + 4 * thread()));
  __nvvm_cp_async_commit_group();
  __nvvm_cp_async_wait_group(0);
  __nvvm_cp_async_wait_all();
  barrier();
  out[thread()] = s[thread() ^ 1] + __nvvm_redux_sync_add(s[thread()], 0xffffffff);
}
__global__ void phases(int* out) {
  __shared__ long word;
  __nvvm_mbarrier_init(&word, 32);
  long state = __nvvm_mbarrier_arrive(&word);
  while (!__nvvm_mbarrier_test_wait(&word, state)) {}
  __nvvm_mbarrier_inval(&word);
  out[0] = 1;
}
