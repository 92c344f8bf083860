//@ exit: 0
//@ flags: --recover
#include "../memcheck/memcheck.h"

// One copy of a thread stores the address of its own local memory, which differs as after a fault, but only in the first run: a
// word of the host that CUDA does not know of tells. The block runs again, and all is right.
__global__ void once(unsigned long long *to, int *runs, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    volatile int own[2] = {thread, n};
    unsigned long long value = own[0];
    if (thread == WRONG_OR_RIGHT(37, -1)) {
        if (*runs == 0)
            value = reinterpret_cast<unsigned long long>(&own[0]);
        *runs = 1;
    }
    to[thread] = value; //~ ERROR recovered
}

int main() {
    static int runs;
    unsigned long long *to = device<unsigned long long>(64);
    once<<<2, 32>>>(to, &runs, 5);
    OK(cudaDeviceSynchronize());
    unsigned long long seen[64];
    OK(cudaMemcpy(seen, to, sizeof seen, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; ++i)
        if (seen[i] != i)
            return 3;
    return finish();
}
