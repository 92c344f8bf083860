// Cooperative groups: thread blocks, tiles, coalesced threads, the grid, and clusters.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

__global__ void block(int* p) {
  auto b = cg::this_thread_block();
  p[b.thread_rank()] += b.group_dim().x;
  b.sync();
  auto token = b.barrier_arrive();
  p[b.thread_rank()] ^= 1;
  b.barrier_wait(std::move(token));
  p[0] = b.num_threads() + b.group_index().y + b.thread_index().z;
}

template <int N> __device__ int use_tile(int v) {
  auto t = cg::tiled_partition<N>(cg::this_thread_block());
  v += t.shfl(v, 0) + t.shfl_down(v, 1) + t.shfl_xor(v, 1) + t.ballot(v > 0) + t.any(v) + t.all(v) + t.match_any(v);
  t.sync();
  return cg::reduce(t, v, cg::plus<int>()) + cg::inclusive_scan(t, v, cg::greater<int>()) + cg::exclusive_scan(t, v);
}
__global__ void tiles(int* p) { p[threadIdx.x] = use_tile<32>(p[threadIdx.x]) + use_tile<8>(p[threadIdx.x]) + use_tile<2>(p[threadIdx.x]); }

__global__ void reductions(float* f, unsigned* u, double* d) {
  auto t = cg::tiled_partition<16>(cg::this_thread_block());
  f[threadIdx.x] = cg::reduce(t, f[threadIdx.x], cg::less<float>());
  u[threadIdx.x] = cg::reduce(t, u[threadIdx.x], cg::bit_xor<unsigned>());
  d[threadIdx.x] = cg::reduce(t, d[threadIdx.x], cg::plus<double>());
  cg::reduce_update_async(t, *reinterpret_cast<cuda::atomic<unsigned, cuda::thread_scope_device>*>(u), u[1], cg::plus<unsigned>());
}

__global__ void coalesced(int* p) {
  if (p[threadIdx.x] & 1) {
    auto g = cg::coalesced_threads();
    if (g.thread_rank() == 0) atomicAdd(p, g.size());
    p[threadIdx.x] = g.shfl(p[threadIdx.x], 0) + cg::reduce(g, p[threadIdx.x], cg::plus<int>());
    auto labelled = cg::labeled_partition(g, p[threadIdx.x] % 3);
    auto binary = cg::binary_partition(g, p[threadIdx.x] > 5);
    p[threadIdx.x] += labelled.size() + binary.meta_group_rank();
  }
  cg::invoke_one(cg::coalesced_threads(), [&] { p[1] = 7; });
}

__global__ void grid(int* p) {
  auto g = cg::this_grid();
  p[g.thread_rank()] = g.size();
  g.sync();
  p[g.thread_rank()] += p[g.num_threads() - 1 - g.thread_rank()] + g.is_valid();
}

__global__ void copies(int* in, int* out, int n) {
  extern __shared__ int buffer[];
  auto b = cg::this_thread_block();
  cg::memcpy_async(b, buffer, in, sizeof(int) * n);
  cg::wait_prior<0>(b);
  out[b.thread_rank()] = buffer[b.thread_rank()];
  cg::memcpy_async(b, buffer, cuda::aligned_size_t<16>(256), in + 64, cuda::aligned_size_t<16>(256));
  cg::wait(b);
  out[b.thread_rank()] += buffer[b.thread_rank()];
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(4, 1, 1) cluster(int* p) {
  __shared__ int mine[32];
  auto c = cg::this_cluster();
  mine[threadIdx.x & 31] = p[threadIdx.x];
  c.sync();
  int* other = c.map_shared_rank(mine, (c.block_rank() + 1) % c.num_blocks());
  p[threadIdx.x] = other[threadIdx.x & 31] + c.query_shared_rank(other) + c.dim_blocks().x + c.block_index().x;
  atomicAdd(&other[0], 1);
  auto token = c.barrier_arrive();
  c.barrier_wait(std::move(token));
}
#endif
