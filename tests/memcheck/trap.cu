#include "memcheck.h"


__global__ void work(int *data, int limit) {
    data[threadIdx.x] = threadIdx.x;
    if (threadIdx.x > limit)
        __trap(); //~ ERROR device-fault
}

int main() {
    work<<<1, 32>>>(device<int>(32), WRONG_OR_RIGHT(30, 31));
    return finish();
}
