//@ exit: 0
//@ flags: --allow-unprotected
//@ finds: unprotected
#include "../memcheck/memcheck.h"

// The user allows that a kernel runs which cannot be protected: that is a warning.
__global__ void sums(int *to, int *tickets) {
    int ticket = atomicAdd(tickets, 1);
#ifndef FIXED
    volatile int *own = static_cast<int *>(malloc(sizeof(int)));
    *own = ticket;
    ticket = *own;
    free(const_cast<int *>(own));
#endif
    to[threadIdx.x] = ticket < 1000;
}

__global__ void twice(int *to) {
    to[threadIdx.x] *= 2;
}

int main() {
    int *to = device<int>(32), *tickets = device<int>(1);
    sums<<<1, 32>>>(to, tickets);
    twice<<<1, 32>>>(to);
    OK(cudaDeviceSynchronize());
    int seen[32];
    OK(cudaMemcpy(seen, to, sizeof seen, cudaMemcpyDeviceToHost));
    for (int value : seen)
        if (value != 2)
            return 3;
    return finish();
}
