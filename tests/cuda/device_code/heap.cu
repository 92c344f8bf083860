// Memory that kernels allocate lives until kernels free it, and what does not fit is a null pointer.
//@ variants: static shared sm_90

#include "../expect.h"

__global__ void allocate(int **table) {
    int *p = (int *)malloc((threadIdx.x + 1) * sizeof(int));
    for (int i = 0; i <= threadIdx.x; i++) p[i] = threadIdx.x * 100 + i;
    table[threadIdx.x] = p;
}
__global__ void sum(int **table, int *out) {
    int total = 0;
    for (int i = 0; i <= threadIdx.x; i++) total += table[threadIdx.x][i];
    out[threadIdx.x] = total;
    free(table[threadIdx.x]);
}
__global__ void too_much(int *out) {
    void *p = malloc((size_t)1 << 40);
    out[0] = p == nullptr;
    free(nullptr);
    int *q = new int(5);
    out[1] = *q;
    delete q;
}

int main() {
    int **table, *out, host[64];
    OK(cudaMalloc(&table, 64 * sizeof(int *)));
    OK(cudaMalloc(&out, sizeof host));
    for (int round = 0; round < 20; round++) {
        allocate<<<1, 64>>>(table);
        sum<<<1, 64>>>(table, out);
        OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 64; i++) CHECK(host[i] == (i + 1) * i * 100 + i * (i + 1) / 2);
    }
    too_much<<<1, 1>>>(out);
    OK(cudaMemcpy(host, out, 2 * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(host[0] == 1 && host[1] == 5);
    return done();
}
