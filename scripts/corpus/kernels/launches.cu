// Kernel attributes, which become performance-tuning and cluster directives, and launch control.
__global__ void __launch_bounds__(256) one_bound(int* p) { p[threadIdx.x] = 1; }
__global__ void __launch_bounds__(128, 4) two_bounds(int* p) { p[threadIdx.x] = 2; }
__global__ void __maxnreg__(40) register_limit(float* p) { for (int i = 0; i < 64; i++) p[i] = sinf(p[i]) * p[i + 64]; }

#if __CUDA_ARCH__ >= 900
__global__ void __block_size__((64, 2, 1)) exact_size(int* p) { p[threadIdx.x] = 3; }
__global__ void __launch_bounds__(128, 2, 8) three_bounds(int* p) { p[threadIdx.x] = 4; }
__global__ void __cluster_dims__(2, 2, 1) cluster_dimensions(int* p) { p[threadIdx.x] = 5; }
__global__ void __block_size__((128, 1, 1), (2, 1, 1)) size_and_cluster(int* p) { p[threadIdx.x] = 6; }
__global__ void dependent(int* p) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  p[threadIdx.x]++;
  asm volatile("griddepcontrol.launch_dependents;");
}
#endif

// More parameters than the 4 KB that older toolkits allowed.
struct Many { int values[2000]; };
__global__ void large_parameters(const __grid_constant__ Many m, int* out, int k) { out[threadIdx.x] = m.values[k]; }

__global__ void every_parameter_type(bool a, char b, unsigned char c, short d, int e, long long f, float g, double h, void* i, char3 j, double2 k, __int128 l, int (*m)(int), int4 n, int* out) {
  out[threadIdx.x] = a + b + c + d + e + (int)f + (int)g + (int)h + (i != nullptr) + j.z + (int)k.y + (int)l + (m != nullptr) + n.w;
}
extern "C" __global__ void no_parameters() {}
namespace outer { namespace { __global__ void hidden(int* p) { p[0] = 1; } } template <class T, int N> __global__ void generic(T* p) { for (int i = 0; i < N; i++) p[i] = T(i); } }
template __global__ void outer::generic<double, 5>(double*);
void use(int* p) { outer::hidden<<<1, 1>>>(p); }
