// Calls: by pointer, virtual, recursive, with aggregates, and switches that become jump tables.
struct Vector { float x, y, z, w[5]; };
using Operation = int (*)(int, int);

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int last(int a, int b) { return a ? b : a; }
__device__ Operation operations[3] = {add, multiply, last};
__constant__ Operation constant_operations[2] = {multiply, add};

__device__ __noinline__ Vector scaled(Vector v, double by, char c, short s) {
  v.x *= by; v.w[c & 3] += s;
  return v;
}
__device__ __noinline__ void nothing() {}
__device__ __noinline__ bool predicate(long long a, unsigned char b) { return a > b; }
__device__ __noinline__ __int128 wide(__int128 a) { return a * a; }

__global__ void pointers(int* p, int k) {
  p[threadIdx.x] = operations[k % 3](p[0], p[1]) + constant_operations[k & 1](p[2], p[3]);
}

__global__ void pointer_argument(Operation f, int* p) { p[threadIdx.x] = f(p[0], p[1]); }

__global__ void aggregates(Vector* v, int k) {
  v[threadIdx.x] = scaled(v[k], v[k].y, (char)k, (short)k);
  nothing();
  if (predicate(k, (unsigned char)k)) v[0].z = (float)wide(k);
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual void grow(float by) { extra += by; }
  __device__ virtual ~Shape() {}
  float extra = 0;
};
struct Square : Shape { float side; __device__ Square(float s) : side(s) {} __device__ float area() const override { return side * side; } };
struct Disc : Shape { float radius; __device__ Disc(float r) : radius(r) {} __device__ float area() const override { return 3.14f * radius * radius; } __device__ void grow(float by) override { radius += by; } };

__global__ void virtual_calls(Shape** shapes, float* out) {
  shapes[threadIdx.x]->grow(out[threadIdx.x]);
  out[threadIdx.x] = shapes[threadIdx.x]->area();
}
__global__ void construct(Shape** shapes, int n) {
  for (int i = 0; i < n; i++) shapes[i] = i & 1 ? static_cast<Shape*>(new Square(i)) : new Disc(i);
  delete shapes[0];
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
__device__ __noinline__ void hanoi(int n, int from, int to, int* moves) {
  if (n == 0) return;
  hanoi(n - 1, from, 3 - from - to, moves);
  moves[n] += from * 3 + to;
  hanoi(n - 1, 3 - from - to, to, moves);
}
__global__ void recursion(int* p) {
  p[threadIdx.x] = fibonacci(p[threadIdx.x]) + even(p[0]);
  hanoi(p[1], 0, 2, p);
}

__global__ void dense_switch(int* p, int k) {
  int v = p[threadIdx.x];
  switch (k) {
    case 0: v = add(v, 1); break;
    case 1: v *= 3; p[1] = v; break;
    case 2: v ^= 0x55; __syncthreads(); break;
    case 3: v = __popc(v); break;
    case 4: v = p[v & 7]; break;
    case 5: v = multiply(v, v); break;
    case 6: v = v / 7; p[2] = 1;
    case 7: v -= 9; break;
    case 8: return;
    case 9: v = __clz(v); break;
    case 11: v = atomicAdd(p, 1); break;
    default: v = -1;
  }
  p[threadIdx.x] = v;
}

__global__ void sparse_switch(int* p, long long k) {
  switch (k) {
    case -5000000000ll: p[0] = add(p[0], 1); break;
    case 1: p[1]++; break;
    case 1000: p[2] = multiply(p[2], 3); break;
    case 123456789: p[3]--; break;
    default: p[4] = 0;
  }
}

// Loops that leave in several places, and a branch into a loop.
__global__ void irregular(int* p, int n) {
  int i = 0;
  if (n & 1) goto middle;
  for (; i < n; i++) {
    if (p[i] < 0) break;
    if (p[i] == 0) continue;
    p[i] *= 2;
  middle:
    for (int j = i; j < n; j += 3) {
      if (p[j] == 9) return;
      if (p[j] == 8) goto out;
      p[j]++;
    }
  }
out:
  p[n] = i;
}

template <class F> __device__ __noinline__ int apply(F f, int v) { return f(v); }
__global__ void lambdas(int* p, int k) { p[0] = apply([=](int v) { return v * k; }, p[1]) + apply([p](int v) { return p[v]; }, k); }
