// A function that calls itself until the local memory of its thread is used up.
#include "memcheck.h"


__device__ __noinline__ int descend(int depth) {
    volatile int values[64];
    values[depth & 63] = depth;
    return depth == 0 ? values[0] : descend(depth - 1) + values[depth & 63]; //~ ERROR device-fault
}

__global__ void work(int *p) { *p = descend(WRONG_OR_RIGHT(100000, 100)); }

int main() {
    work<<<1, 1>>>(device<int>(1));
    return finish();
}
