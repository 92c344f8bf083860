// Warp-level functions, special registers, and barriers of every kind.
__global__ void shuffles(int* i, float* f, double* d, unsigned long long* l) {
  unsigned m = 0xffffffff;
  i[threadIdx.x] = __shfl_sync(m, i[0], 3) + __shfl_up_sync(m, i[1], 1, 16) + __shfl_down_sync(m, i[2], 2) + __shfl_xor_sync(m, i[3], 4, 8);
  f[threadIdx.x] = __shfl_sync(m, f[0], i[0]);
  d[threadIdx.x] = __shfl_down_sync(m, d[0], 1);
  l[threadIdx.x] = __shfl_xor_sync(m, l[0], 1);
}

__global__ void votes(int* p, unsigned long long* l) {
  unsigned m = __activemask();
  int v = p[threadIdx.x], q;
  p[threadIdx.x] = __all_sync(m, v) + __any_sync(m, v) + __uni_sync(m, v) + __ballot_sync(m, v) + __match_any_sync(m, v) + __match_all_sync(m, v, &q) + q + __match_any_sync(m, l[0]);
  __syncwarp(m);
}

#if __CUDA_ARCH__ >= 800
__global__ void reductions(int* p, unsigned* u) {
  unsigned m = 0xffffffff;
  p[0] = __reduce_add_sync(m, p[1]) + __reduce_min_sync(m, p[2]) + __reduce_max_sync(m, p[3]);
  u[0] = __reduce_and_sync(m, u[1]) + __reduce_or_sync(m, u[2]) + __reduce_xor_sync(m, u[3]) + __reduce_max_sync(m, u[4]);
}
#endif

__global__ void barriers(int* p) {
  __syncthreads();
  p[0] = __syncthreads_count(p[1]) + __syncthreads_and(p[2]) + __syncthreads_or(p[3]);
  asm volatile("bar.sync 1, 64;" ::: "memory");
  asm volatile("bar.arrive %0, %1;" ::"r"(p[4]), "r"(p[5]) : "memory");
  asm volatile("barrier.sync %0;" ::"r"(p[6]) : "memory");
  asm volatile("barrier.cta.sync.aligned 2;" ::: "memory");
  asm volatile("barrier.cta.arrive 3, 128;" ::: "memory");
  asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.cta.red.popc.u32 %0, 4, 64, p; bar.red.and.pred q, 5, !p; @q bar.warp.sync 0xff; }" : "=r"(p[7]) : "r"(p[8]) : "memory");
  __threadfence_block(); __threadfence(); __threadfence_system();
}

#define REGISTER(name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); p[i++] = v;
#define REGISTER64(name) asm volatile("mov.u64 %0, %%" name ";" : "=l"(w)); p[i++] = (unsigned)w;
__global__ void special_registers(unsigned* p) {
  unsigned v; unsigned long long w; int i = 0;
  REGISTER("tid.x") REGISTER("tid.y") REGISTER("tid.z") REGISTER("ntid.x") REGISTER("ntid.y") REGISTER("ntid.z")
  REGISTER("ctaid.x") REGISTER("ctaid.y") REGISTER("ctaid.z") REGISTER("nctaid.x") REGISTER("nctaid.y") REGISTER("nctaid.z")
  REGISTER("laneid") REGISTER("warpid") REGISTER("nwarpid") REGISTER("smid") REGISTER("nsmid")
  REGISTER("lanemask_eq") REGISTER("lanemask_le") REGISTER("lanemask_lt") REGISTER("lanemask_ge") REGISTER("lanemask_gt")
  REGISTER("clock") REGISTER("clock_hi") REGISTER("pm0") REGISTER("envreg0") REGISTER("total_smem_size") REGISTER("dynamic_smem_size")
  REGISTER("globaltimer_lo") REGISTER("globaltimer_hi") REGISTER64("clock64") REGISTER64("globaltimer") REGISTER64("gridid") REGISTER64("pm3_64")
#if __CUDA_ARCH__ >= 900
  REGISTER("clusterid.x") REGISTER("nclusterid.y") REGISTER("cluster_ctaid.x") REGISTER("cluster_nctaid.z") REGISTER("cluster_ctarank") REGISTER("cluster_nctarank") REGISTER("aggr_smem_size")
#endif
}
