// A function that calls itself until the memory of its thread is used up.
#include "memcheck.h"


struct Big {
    int values[64];
};

__device__ __noinline__ int descend(int depth, int *p) {
    Big big;
    for (int i = 0; i < 64; i++) big.values[i] = depth + p[i & 3];
    if (depth == 0) return big.values[p[0] & 63];
    return descend(depth - 1, p) + big.values[depth & 63]; //~ ERROR device-fault
}

__global__ void work(int *p) { p[4] = descend(WRONG_OR_RIGHT(100000, 100), p); }

int main() {
    int *p = device<int>(8);
    work<<<1, 1>>>(p);
    return finish();
}
