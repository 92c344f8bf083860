// Recursion, virtual functions, function pointers, templates, lambdas and local arrays.
//@ build: --extended-lambda
//@ variants: static shared sm_75 sm_90 rdc G

#include "../expect.h"

__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};
struct Box : Square {
    int height;
    __device__ Box(int side, int height) : Square(side), height(height) {}
    __device__ int area() const override { return Square::area() * height; }
};

typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation operations[] = {add, multiply, add};

template <int N, class T> struct Power {
    __device__ static T of(T x) { return x * Power<N - 1, T>::of(x); }
};
template <class T> struct Power<0, T> {
    __device__ static T of(T) { return 1; }
};

template <class F> __global__ void apply(int *out, F f) { out[threadIdx.x] = f(threadIdx.x); }

__global__ void run(int *out, int which) {
    int t = threadIdx.x;
    out[t * 6] = (int)fibonacci(t % 12);
    Square square(t);
    Box box(t, 3);
    const Shape *shape = t % 2 ? (const Shape *)&square : &box;
    out[t * 6 + 1] = shape->area();
    out[t * 6 + 2] = operations[t % 3](t, 10);
    out[t * 6 + 3] = Power<5, int>::of(t % 7);
    int cells[20]; // Indexed by what is only known when it runs.
    for (int i = 0; i < 20; i++) cells[(i * which) % 20] = i + t;
    out[t * 6 + 4] = cells[(t * which) % 20];
    Operation chosen = t < 16 ? add : multiply;
    out[t * 6 + 5] = chosen(t, t);
}

int main() {
    int *out, host[64 * 6];
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10));
    run<<<1, 64>>>(out, 7);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    const int numbers[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (int t = 0; t < 64; t++) {
        int p = t % 7;
        CHECK(host[t * 6] == numbers[t % 12]);
        CHECK(host[t * 6 + 1] == (t % 2 ? t * t : t * t * 3));
        CHECK(host[t * 6 + 2] == (t % 3 == 1 ? t * 10 : t + 10));
        CHECK(host[t * 6 + 3] == p * p * p * p * p);
        CHECK(host[t * 6 + 4] == t % 20 + t);
        CHECK(host[t * 6 + 5] == (t < 16 ? 2 * t : t * t));
    }
    int offset = 1000;
    apply<<<1, 32>>>(out, [=] __device__(int i) { return i * 2 + offset; });
    OK(cudaMemcpy(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) CHECK(host[i] == i * 2 + 1000);
    return done();
}
