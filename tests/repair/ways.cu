//@ exit: 0
//@ flags: --explain
#include "../memcheck/memcheck.h"

// How launches run, and why in that way: none of these threads disturb each other, so nothing runs again.
__global__ void proved(int *data) {
    data[threadIdx.x] = threadIdx.x;
}

__global__ void checked(int *data, const int *places) {
    data[places[threadIdx.x]] += 1;
}

// As in a search that goes through a graph level by level: threads write the same.
__global__ void same_value(int *data) {
    for (int round = 0; round < 4; ++round)
        if ((threadIdx.x + round) % 3 == 0)
            data[0] = 1;
}

// Sums of numbers do not depend on who comes first.
__global__ void histogram(int *bins, const int *places) {
    for (int i = 0; i < 4; ++i)
        atomicAdd(&bins[places[(threadIdx.x * 7 + i * 13) % 64] % 8], 1);
}

__global__ void exchanged(int *data) {
    data[threadIdx.x] = __shfl_xor_sync(~0u, data[threadIdx.x], 1);
    __syncwarp();
    data[threadIdx.x ^ 1] += 1;
}

__global__ void __noinline__ indirect(int *data, void (**function)(int *)) {
    (*function)(data);
}

__device__ void store(int *data) {
    data[threadIdx.x] = 5;
}

__device__ void (*pointer)(int *) = store;

int main() {
    int host[64], *data = device<int>(64), *places = device<int>(64), *managed;
    for (int i = 0; i < 64; ++i)
        host[i] = 63 - i;
    OK(cudaMemcpy(places, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaMallocManaged(&managed, sizeof host));
    proved<<<1, 64>>>(data);
    checked<<<1, 64>>>(data, places);
    same_value<<<2, 64>>>(data);
    histogram<<<2, 64>>>(data, places);
    exchanged<<<1, 64>>>(data);
    checked<<<1, 64>>>(managed, places);
    void (**function)(int *);
    OK(cudaGetSymbolAddress((void **)&function, pointer));
    indirect<<<1, 64>>>(data, function);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    for (int value : host)
        if (value != 5)
            return 3;
    return finish();
}
