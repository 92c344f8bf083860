// An ordinary small program with types, inlined functions, templates and scopes, to be compiled with
// and without debug information.
struct Point { float x, y; __device__ float length() const { return sqrtf(x * x + y * y); } };
enum class Kind : unsigned char { none, some, all };
union Bits { float f; unsigned u; };
namespace geometry {
template <class T> struct Box { T low, high; __device__ bool contains(const T& v) const { return v.x >= low.x && v.y <= high.y; } };
__device__ inline Point middle(const Box<Point>& b) { return {(b.low.x + b.high.x) / 2, (b.low.y + b.high.y) / 2}; }
}
__device__ int calls;
__constant__ geometry::Box<Point> bounds;
static __device__ int count(Kind k) { switch (k) { case Kind::none: return 0; case Kind::some: return 1; default: return 2; } }
__global__ void kernel(const Point* points, float* out, int n, Kind kind) {
  __shared__ float partial[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = i; j < n; j += gridDim.x * blockDim.x) {
    Point p = points[j];
    if (bounds.contains(p)) {
      Bits b;
      b.f = p.length();
      sum += b.u & 1 ? b.f : -b.f;
    } else {
      sum += geometry::middle(bounds).x;
    }
  }
  partial[threadIdx.x] = sum;
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
  }
  if (threadIdx.x == 0) { out[blockIdx.x] = partial[0] * count(kind); atomicAdd(&calls, 1); }
}
