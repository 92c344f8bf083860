// Asynchronous copies to shared memory, pipelines, and barriers that complete by phases.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

__global__ void primitives(const int4* in, int4* out) {
  __shared__ int4 buffer[2][128];
  __pipeline_memcpy_async(&buffer[0][threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_memcpy_async(&buffer[1][threadIdx.x], &in[threadIdx.x + 128], 16, 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[threadIdx.x] = buffer[0][threadIdx.x ^ 1];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x + 128] = buffer[1][threadIdx.x ^ 1];
  __pipeline_memcpy_async((int*)&buffer[0][0] + threadIdx.x, (const int*)in + threadIdx.x, 4);
  __pipeline_memcpy_async((int2*)&buffer[1][0] + threadIdx.x, (const int2*)in + threadIdx.x, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x].x = buffer[1][threadIdx.x ^ 2].x + buffer[0][threadIdx.x ^ 3].y;
}

template <int Stages> __global__ void staged(const float* in, float* out, int n) {
  extern __shared__ float buffers[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
  struct Group { __device__ void sync() const { __syncthreads(); } __device__ unsigned size() const { return blockDim.x; } __device__ unsigned thread_rank() const { return threadIdx.x; } };
  auto pipe = cuda::make_pipeline(Group{}, &state);
  float sum = 0;
  for (int fetch = 0, use = 0; use < n; use++) {
    for (; fetch < n && fetch < use + Stages; fetch++) {
      pipe.producer_acquire();
      cuda::memcpy_async(buffers + (fetch % Stages) * blockDim.x + threadIdx.x, in + fetch * blockDim.x + threadIdx.x, cuda::aligned_size_t<4>(4), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += buffers[(use % Stages) * blockDim.x + threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
template __global__ void staged<2>(const float*, float*, int);
template __global__ void staged<4>(const float*, float*, int);

__global__ void block_barrier(const int4* in, int* out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ int4 buffer[64];
  __shared__ alignas(8) unsigned char storage[sizeof(barrier)];
  barrier& bar = *reinterpret_cast<barrier*>(storage);
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&buffer[threadIdx.x & 63], &in[threadIdx.x], cuda::aligned_size_t<16>(16), bar);
  bar.wait(bar.arrive());
  out[threadIdx.x] = buffer[(threadIdx.x + 1) & 63].z;
  bar.arrive_and_wait();
  bar.arrive_and_drop();
}

__global__ void split_phase(int* data, cuda::barrier<cuda::thread_scope_device>* far) {
  auto token = far->arrive(1);
  data[threadIdx.x] += 1;
  far->wait(std::move(token));
  bool parity = data[0] & 1;
  far->wait_parity(parity);
}

#if __CUDA_ARCH__ >= 900
#include <cuda/ptx>
// Bulk copies, which complete a transaction on a barrier.
__global__ void bulk(const int* in, int* out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(128) int buffer[256];
  __shared__ alignas(8) unsigned char storage[sizeof(barrier)];
  barrier& bar = *reinterpret_cast<barrier*>(storage);
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(buffer, in, cuda::aligned_size_t<16>(sizeof(buffer)), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(buffer));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  buffer[threadIdx.x] += 1;
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, buffer, sizeof(buffer));
    cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, cuda::ptx::op_add, out, buffer, sizeof(buffer));
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }
}

struct alignas(64) Map { unsigned char bytes[128]; };
__global__ void tensor(const __grid_constant__ Map map, int x, int y, float* out) {
  __shared__ alignas(128) float tile[32][32];
  __shared__ alignas(8) cuda::std::uint64_t bar;
  if (threadIdx.x == 0) {
    cuda::ptx::mbarrier_init(&bar, 1);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
    int at[2] = {x, y};
    cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, tile, &map, at, &bar);
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, &bar, sizeof(tile));
  }
  __syncthreads();
  while (!cuda::ptx::mbarrier_try_wait_parity(&bar, 0)) {}
  out[threadIdx.x] = tile[threadIdx.x / 32][threadIdx.x % 32];
}
#endif
