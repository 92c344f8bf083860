//@ exit: 0
//@ flags: --explain
#include "../memcheck/memcheck.h"
#include <cstdio>

// What twins print is printed once, and what they get for it is the same.
__global__ void hello(int *to) {
    to[threadIdx.x] = printf("thread %d has %f\n", threadIdx.x, 0.5f * threadIdx.x);
}

int main() {
    int *to = device<int>(4);
    hello<<<1, 4>>>(to);
    OK(cudaDeviceSynchronize());
    int seen[4];
    OK(cudaMemcpy(seen, to, sizeof seen, cudaMemcpyDeviceToHost));
    for (int count : seen)
        if (count != 2)
            return 3;
    return finish();
}
