#include "memcheck.h"

__global__ void lock(unsigned long long *locks, int which) {
    while (atomicCAS(&locks[which], 0, 1) == 1) //~ ERROR out-of-bounds
        ;
}

int main() {
    lock<<<1, 1>>>(device<unsigned long long>(8), WRONG_OR_RIGHT(8, 7));
    return finish();
}
