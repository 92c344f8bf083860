// In code that is compiled to be debugged all variables are in local memory.
//@ build: -G
#include "memcheck.h"

__global__ void work(const int *in, int *out) {
    int value = in[threadIdx.x];
    int twice = value * 2;
    bool is_large = twice > 8;
    if (is_large) //~ ERROR undefined-branch
        out[threadIdx.x] = twice;
    int set = threadIdx.x;
    if (set > 8) out[set] = 1;
}

int main() {
    int *in = fresh<int>(32), *out = device<int>(32);
    if (WRONG_OR_RIGHT(0, 1)) OK(cudaMemset(in, 0, 128));
    work<<<1, 32>>>(in, out);
    return finish();
}
