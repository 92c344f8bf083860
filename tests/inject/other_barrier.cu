// A thread waits at a barrier that no other comes to: a deadlock.
//@ trials: --model predicate --trials 32 => outcomes.hang=32
//@ gpu: --model predicate --trials 2 => outcomes.hang=2
#include "common.h"

__global__ void meet(int *out, const int *in) {
    if (in[threadIdx.x] != 0)
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    asm volatile("barrier.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = 5;
}

int main() {
    Numbers out(0), in(0);
    meet<<<1, 64>>>(out.data, in.data);
    for (int value : out.read())
        if (value != 5)
            return 1;
}
