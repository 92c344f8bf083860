// Parameters arrive as they are given: of all sizes and alignments, structs, and 4 KB of them.
//@ variants: static shared sm_75 sm_90 rdc G clang

#include "../expect.h"

struct Mixed { char c; short s; int i; double d; float f; long long l; };
struct alignas(16) Aligned { float v[4]; };
struct Big { int values[1000]; };
struct Empty {};

__global__ void mixed(double *out, char c, Mixed m, short s, Aligned a, unsigned char b, Empty, double last) {
    out[0] = c; out[1] = m.c; out[2] = m.s; out[3] = m.i; out[4] = m.d; out[5] = m.f; out[6] = m.l;
    out[7] = s; out[8] = a.v[0]; out[9] = a.v[3]; out[10] = b; out[11] = last;
}

__global__ void big(long long *out, Big b) {
    long long sum = 0;
    for (int i = 0; i < 1000; i++) sum += b.values[i];
    *out = sum;
}

__global__ void indexed(int *out, Big b) { out[threadIdx.x] = b.values[threadIdx.x * 7]; }

__global__ void changed(int *out, Big b) {
    b.values[threadIdx.x] += 1; // Each thread has its own.
    out[threadIdx.x] = b.values[0] * 100 + b.values[threadIdx.x];
}

int main() {
    double *out, results[12] = {};
    OK(cudaMalloc(&out, sizeof results));
    Mixed m = {'x', -2, 3, 4.5, 5.25f, -6};
    Aligned a = {{1.0f, 2.0f, 3.0f, 4.0f}};
    mixed<<<1, 1>>>(out, 'a', m, 1234, a, 200, Empty(), 9.5);
    OK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    const double expected[12] = {'a', 'x', -2, 3, 4.5, 5.25, -6, 1234, 1, 4, 200, 9.5};
    for (int i = 0; i < 12; i++) CHECK(results[i] == expected[i]);

    Big b;
    for (int i = 0; i < 1000; i++) b.values[i] = i;
    long long sum = 0;
    big<<<1, 1>>>((long long *)out, b);
    b.values[0] = 1000000; // The launch has its own copy.
    OK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(sum == 499500);

    int *cells, host[100];
    b.values[0] = 0;
    OK(cudaMalloc(&cells, sizeof host));
    indexed<<<1, 100>>>(cells, b);
    OK(cudaMemcpy(host, cells, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++) CHECK(host[i] == i * 7);
    changed<<<1, 100>>>(cells, b);
    OK(cudaMemcpy(host, cells, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 101);
    for (int i = 1; i < 100; i++) CHECK(host[i] == i + 1);
    return done();
}
