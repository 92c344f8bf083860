//@ exit: 0
//@ flags: --recover
#include "../memcheck/memcheck.h"

// The same in a kernel that counts: what it has counted is set back before it runs again, and what it prints is printed once.
__global__ void once(unsigned long long *to, int *counter, int *runs, int n) {
    volatile int own[2] = {(int)threadIdx.x, n};
    atomicAdd(counter, 1);
    unsigned long long value = own[0];
    if (threadIdx.x == WRONG_OR_RIGHT(7, -1)) {
        if (*runs < 2)
            value = reinterpret_cast<unsigned long long>(&own[0]);
        ++*runs;
    }
    if (threadIdx.x == 3)
        printf("thread 3\n");
    to[threadIdx.x] += value; //~ ERROR recovered
}

int main() {
    static int runs;
    unsigned long long *to = device<unsigned long long>(32);
    int *counter = device<int>(1);
    once<<<1, 32>>>(to, counter, &runs, 5);
    OK(cudaDeviceSynchronize());
    unsigned long long seen[32];
    int counted;
    OK(cudaMemcpy(seen, to, sizeof seen, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i)
        if (seen[i] != i)
            return 3;
    return counted == 32 ? finish() : 4;
}
