//@ exit: 0
//@ flags: --explain
#include "../memcheck/memcheck.h"

// A kernel for each variant that is chosen, and for each reason.
__global__ void disjoint(const int *from, int *to) {
    to[threadIdx.x] = 3 * from[threadIdx.x];
}

__global__ void in_place(int *to) {
    to[threadIdx.x] += 1;
}

__global__ void exchanged(int *to) {
    __shared__ int slot;
    if (threadIdx.x == 0)
        slot = 0;
    __syncthreads();
    atomicExch(&slot, 7);
    __syncthreads();
    to[threadIdx.x] = slot;
}

__global__ void collective(const int *from, int *to) {
    to[threadIdx.x] = __shfl_xor_sync(~0u, from[threadIdx.x], 1);
}

__global__ void __launch_bounds__(1024) large(const int *from, int *to) {
    to[threadIdx.x] = from[threadIdx.x] + 1;
}

__global__ void __launch_bounds__(1024) tickets(int *to, int *next) {
    to[threadIdx.x] = atomicAdd(next, 1) < 1024;
}

template <typename Check> int wrong(int *to, int n, Check expected) {
    int seen[1024], wrong = 0;
    OK(cudaMemcpy(seen, to, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        wrong += seen[i] != expected(i);
    return wrong;
}

int main() {
    int host[1024], *from = device<int>(1024), *to = device<int>(1024);
    for (int i = 0; i < 1024; ++i)
        host[i] = i;
    OK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
    disjoint<<<1, 64>>>(from, to);
    if (wrong(to, 64, [](int i) { return 3 * i; }))
        return 3;
    disjoint<<<1, 64>>>(from, from);
    OK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
    in_place<<<1, 13>>>(to);
    if (wrong(to, 13, [](int i) { return 3 * i + 1; }))
        return 4;
    exchanged<<<1, 64>>>(to);
    if (wrong(to, 64, [](int) { return 7; }))
        return 5;
    collective<<<1, 64>>>(from, to);
    if (wrong(to, 64, [](int i) { return i ^ 1; }))
        return 6;
    large<<<1, 1024>>>(from, to);
    if (wrong(to, 1024, [](int i) { return i + 1; }))
        return 7;
    int *next = device<int>(1);
    OK(cudaMemset(next, 0, sizeof(int)));
    tickets<<<1, 1024>>>(to, next);
    if (wrong(to, 1024, [](int) { return 1; }))
        return 8;
    return finish();
}
