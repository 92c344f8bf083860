// One half of a program for separate compilation: what it refers to is defined elsewhere.
extern __device__ int defined_elsewhere[16];
extern __constant__ float constant_elsewhere;
extern __device__ int function_elsewhere(int, float*);
extern "C" __device__ double plain_name_elsewhere(double);
extern __shared__ int dynamic[];

__device__ int visible_to_others = 3;
__device__ int exported(int v) { return v * defined_elsewhere[v & 15]; }
static __device__ __noinline__ int internal(int v) { return v ^ visible_to_others; }
inline __device__ __noinline__ int merged(int v) { return v + 11; }
template <class T> __device__ __noinline__ T instantiated(T v) { return v * v; }
template __device__ float instantiated<float>(float);

__global__ void kernel(float* p, int* q) {
  dynamic[threadIdx.x] = function_elsewhere(q[threadIdx.x], p);
  q[0] = exported(dynamic[threadIdx.x]) + internal(q[1]) + merged(q[2]);
  p[0] = instantiated(constant_elsewhere) + (float)plain_name_elsewhere(p[1]);
}
