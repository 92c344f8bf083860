#include "memcheck.h"

__global__ void wait(volatile int *flags) {
    while (flags[threadIdx.x + WRONG_OR_RIGHT(4, 0)] != 0) //~ ERROR out-of-bounds
        ;
}

int main() {
    wait<<<1, 4>>>(device<int>(4));
    return finish();
}
