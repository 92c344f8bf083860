// Loads and stores in every state space, of every width, with every cache hint that CUDA C++ offers.
#include <cstdint>

struct alignas(16) Aligned { double a, b; };
struct Packed { char tag; int values[3]; short tail; };
struct alignas(1) Unaligned { unsigned char bytes[13]; };

__constant__ float table[256];
__constant__ Packed constants[4] = {{'a', {1, 2, 3}, 4}, {'b', {5, 6, 7}, 8}};
__device__ int counter = 42;
__device__ double initialised[4] = {1.0, -2.5, 1e300, 0.0};
__device__ const char* message = "a pointer to a string";
__device__ volatile int flag;
__managed__ int shared_with_host[16];
static __device__ int* pointer_to_counter = &counter;

extern __shared__ unsigned char dynamic[];

template <class T> __global__ void copy(const T* in, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
template __global__ void copy<uint8_t>(const uint8_t*, uint8_t*, int);
template __global__ void copy<int16_t>(const int16_t*, int16_t*, int);
template __global__ void copy<float>(const float*, float*, int);
template __global__ void copy<double>(const double*, double*, int);
template __global__ void copy<uchar4>(const uchar4*, uchar4*, int);
template __global__ void copy<short2>(const short2*, short2*, int);
template __global__ void copy<float3>(const float3*, float3*, int);
template __global__ void copy<int4>(const int4*, int4*, int);
template __global__ void copy<double2>(const double2*, double2*, int);
template __global__ void copy<Aligned>(const Aligned*, Aligned*, int);
template __global__ void copy<Packed>(const Packed*, Packed*, int);
template __global__ void copy<Unaligned>(const Unaligned*, Unaligned*, int);

__global__ void cache_hints(const float4* in, float4* out, const int* __restrict__ ro, int* w) {
  int i = threadIdx.x;
  out[i] = __ldg(in + i);
  out[i + 1] = __ldca(in + i);
  out[i + 2] = __ldcg(in + i);
  out[i + 3] = __ldcs(in + i);
  out[i + 4] = __ldlu(in + i);
  out[i + 5] = __ldcv(in + i);
  __stwb(out + i + 6, in[i]);
  __stcg(out + i + 7, in[i]);
  __stcs(out + i + 8, in[i]);
  __stwt(out + i + 9, in[i]);
  w[i] = ro[i] + ro[i + 1];
}

__global__ void volatile_accesses(volatile int* p, volatile double* q, volatile uchar4* r) {
  p[threadIdx.x] = p[threadIdx.x + 1] + flag;
  q[threadIdx.x] = q[threadIdx.x + 1];
  flag = r[threadIdx.x].x;
}

__global__ void shared_memory(const int* in, int* out) {
  __shared__ int fixed[128];
  __shared__ double2 wide[16];
  __shared__ volatile char bytes[64];
  int t = threadIdx.x;
  fixed[t & 127] = in[t];
  wide[t & 15] = make_double2(in[t], t);
  bytes[t & 63] = (char)t;
  reinterpret_cast<float*>(dynamic)[t] = in[t];
  __syncthreads();
  out[t] = fixed[(t * 7) & 127] + (int)wide[t & 7].y + bytes[(t + 1) & 63] + (int)reinterpret_cast<float*>(dynamic)[t ^ 1];
}

__global__ void local_memory(const int* in, int* out, int k) {
  int buffer[64];
  Packed packed[3];
  for (int i = 0; i < 64; i++) buffer[i] = in[i * 3];
  for (int i = 0; i < 3; i++) packed[i] = {(char)i, {in[i], in[i + 1], in[i + 2]}, (short)k};
  out[threadIdx.x] = buffer[k & 63] + packed[k % 3].values[k & 1] + packed[in[0] % 3].tail;
}

__global__ void constant_memory(float* out, int k) {
  out[threadIdx.x] = table[threadIdx.x] + table[k] + constants[k & 3].values[1] + initialised[k & 3];
}

__device__ __noinline__ int through_generic(const int* p) { return *p; }

// The same function sees pointers into different state spaces.
__global__ void generic_addresses(int* global, int k) {
  __shared__ int s[32];
  int l[32];
  s[threadIdx.x & 31] = k;
  for (int i = 0; i < 32; i++) l[i] = i * k;
  __syncthreads();
  const int* p = k == 0 ? global : k == 1 ? s : k == 2 ? l : pointer_to_counter;
  global[threadIdx.x] = through_generic(p + (k & 31)) + __isShared(p) + 2 * __isGlobal(p) + 4 * __isLocal(p) + 8 * __isConstant(p);
  global[threadIdx.x + 1] = (int)__cvta_generic_to_shared(s) + (int)(size_t)message[k];
  shared_with_host[threadIdx.x & 15] = counter++;
}

__global__ void memory_functions(char* out, const char* in, size_t n) {
  memcpy(out, in, n);
  memset(out + n, 0x5a, n);
  memcpy(out + 3 * n, in + 1, 37);
  memset(out + 4 * n, 0, 64);
}

struct Parameters { int counts[20]; const float* in; float* out; char letter; double scale; };

// A kernel parameter that is indexed dynamically, and one whose address is taken.
__global__ void by_value(Parameters p, const __grid_constant__ Parameters q, int k) {
  const Parameters* address = &q;
  p.out[threadIdx.x] = p.in[p.counts[k % 20]] * address->scale + q.counts[k % 20] + q.letter;
}
