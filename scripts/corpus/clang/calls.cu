// Calls as clang writes them: by pointer, virtual, recursive, with aggregates; and switches.
#include "cuda.h"
struct Value { int a, b; double c; float d[3]; };
__device__ __noinline__ Value change(Value v, int by) { v.a += by; v.d[by & 1] = v.c; return v; }
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ int (*operations[2])(int, int) = {add, multiply};
__global__ void pointers(int* p, int k) { p[index()] = operations[k & 1](p[0], p[1]); }
__global__ void aggregates(Value* p) { p[index()] = change(p[0], p[1].a); }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__global__ void recursion(int* p) { p[index()] = ackermann(p[0], p[1]); }
struct Base { __device__ virtual int f(int) = 0; int x; };
struct One : Base { __device__ int f(int v) override { return v + x; } };
struct Two : Base { __device__ int f(int v) override { return v * x; } };
__global__ void virtual_calls(Base** b, int* p) {
  One one; Two two;
  one.x = p[2]; two.x = p[3];
  p[index()] = b[index()]->f(p[0]) + (p[1] ? (Base*)&one : (Base*)&two)->f(3);
}
__global__ void dense_switch(int* p, int k) {
  switch (k) {
    case 0: p[0] = add(p[0], 1); break; case 1: p[1] *= 3; break; case 2: p[2] ^= 5; break; case 3: barrier(); break;
    case 4: p[4] = p[3]; break; case 5: p[5] = multiply(2, k); break; case 6: return; case 7: p[7]--; break; default: p[8] = 0;
  }
}
extern "C" __device__ int elsewhere(int, const Value*);
extern __device__ int array_elsewhere[];
__global__ void external(int* p, Value* v) { p[index()] = elsewhere(p[0], v) + array_elsewhere[3]; }
