// What the device runtime provides: the heap, printf, assert, traps, and memory from alloca.
#include <cassert>
#include <cstdio>

struct Node { Node* next; int value; __device__ Node(int v) : next(nullptr), value(v) {} __device__ ~Node() { value = -1; } };

__global__ void heap(int** out, int n) {
  int* p = static_cast<int*>(malloc(n * sizeof(int)));
  if (!p) __trap();
  for (int i = 0; i < n; i++) p[i] = i;
  out[threadIdx.x] = p;
  free(out[threadIdx.x + 1]);
  Node* list = nullptr;
  for (int i = 0; i < n; i++) { Node* node = new Node(i); node->next = list; list = node; }
  while (list) { Node* next = list->next; delete list; list = next; }
  double* array = new double[n];
  out[0][0] = (int)array[n - 1];
  delete[] array;
}

__global__ void print(int n, float f, const char* s, long long l) {
  printf("plain\n");
  int written = printf("%d %f %s %lld %c %p %%\n", n, f, s, l, 'x', s);
  if (written < 0) printf("lost %u\n", threadIdx.x);
}

__global__ void check(const int* p, int n) {
  assert(n > 0);
  assert(p[threadIdx.x] != 7 && "seven is not allowed");
}

__global__ void stop(int* p) {
  if (p[0] == 1) __trap();
  if (p[0] == 2) __brkpt();
  if (p[0] == 3) asm volatile("exit;");
  if (p[0] == 4) __prof_trigger(3);
  __nanosleep(p[1]);
  p[2] = clock() + (int)clock64();
}

__global__ void stack(const int* in, int* out, int n) {
  int* p = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; i++) p[i] = in[i];
  out[threadIdx.x] = p[in[0] % n];
  for (int i = 0; i < n; i++) {
    double* more = static_cast<double*>(alloca(in[i]));
    more[0] = i;
    out[i] += (int)more[in[0] % 2];
  }
}
