// Run-time compiled code that uses the device side of the C++ standard library.
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/variant>

extern "C" __global__ void complex_square(cuda::std::complex<float>* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * p[i] / (p[i] + cuda::std::complex<float>(1, 2));
}

__device__ cuda::std::optional<int> find(const cuda::std::array<int, 8>& a, int v) {
  for (int i = 0; i < 8; i++) if (a[i] == v) return i;
  return cuda::std::nullopt;
}
extern "C" __global__ void search(const cuda::std::array<int, 8>* a, int* out) {
  auto [found, where] = cuda::std::make_tuple(find(a[threadIdx.x], out[0]).has_value(), find(a[threadIdx.x], out[0]).value_or(-1));
  out[threadIdx.x] = found ? where : -2;
}

struct Visitor { __device__ int operator()(int v) const { return v; } __device__ int operator()(float v) const { return (int)v * 2; } };
extern "C" __global__ void visit(cuda::std::variant<int, float>* v, int* out) { out[threadIdx.x] = cuda::std::visit(Visitor{}, v[threadIdx.x]); }

extern "C" __global__ void lock(int* data, int* word) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(*word);
  while (a.exchange(1, cuda::memory_order_acquire)) __nanosleep(20);
  data[0]++;
  a.store(0, cuda::memory_order_release);
}
