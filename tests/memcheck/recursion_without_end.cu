//@ finds: device-fault
#include "memcheck.h"


__device__ __noinline__ int depth(volatile int *data, int n) {
    return n == data[0] ? 0 : depth(data, n + 1) + data[1];
}

__global__ void work(int *data) {
    data[2] = depth(data, WRONG_OR_RIGHT(1, -5));
}

int main() {
    work<<<1, 1>>>(device<int>(4));
    return finish();
}
