//@ flags: --track-origins yes
#include "memcheck.h"

// What is undefined goes through memory: from an allocation that nobody wrote, by a kernel, by a copy on the device, by another
// kernel and by an atomic, to a branch, and to the host.
__global__ void scale(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] * 2; }
__global__ void add(int *sum, const int *in) { atomicAdd(sum, in[threadIdx.x]); }

__global__ void count(const int *in, int *out) {
    if (in[threadIdx.x] > 0) //~ ERROR undefined-branch
        out[threadIdx.x] = 1;
}

__global__ void is_large(const int *sum, int *out) {
    if (*sum > 0) //~ ERROR undefined-branch
        *out = 1;
}

int main() {
    int *in = WRONG_OR_RIGHT(fresh<int>(64), device<int>(64));
    int *first = fresh<int>(64), *second = fresh<int>(64), *third = fresh<int>(64);
    int *sum = device<int>(1), *out = device<int>(64), host;
    scale<<<1, 64>>>(in, first);
    OK(cudaMemcpy(second, first, 64 * sizeof(int), cudaMemcpyDeviceToDevice));
    scale<<<1, 64>>>(second, third);
    count<<<1, 64>>>(third, out);
    add<<<1, 32>>>(sum, third);
    is_large<<<1, 1>>>(sum, out);
    OK(cudaMemcpy(&host, third, sizeof host, cudaMemcpyDeviceToHost)); //~ ERROR undefined-output
    // The memory of another allocation is none of theirs.
    OK(cudaFree(third));
    int *again = fresh<int>(64);
    OK(cudaMemset(again, 0, 64 * sizeof(int)));
    count<<<1, 64>>>(again, out);
    return finish();
}
