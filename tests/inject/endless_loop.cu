// A wrong predicate leads to a loop that never ends: found by the number of instructions.
//@ trials: --model predicate --trials 32 => outcomes.hang=32
//@ gpu: --model predicate --trials 1 => outcomes.hang=1
#include "common.h"

__global__ void wait(int *out, const int *in, volatile int *stop) {
    if (in[threadIdx.x] != 0)
        while (*stop == 0) {
        }
    out[threadIdx.x] = 5;
}

int main() {
    Numbers out(0), in(0), stop(0);
    wait<<<1, 64>>>(out.data, in.data, stop.data);
    for (int value : out.read())
        if (value != 5)
            return 1;
}
