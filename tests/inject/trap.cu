// A wrong predicate leads to a trap: the device ends the launch.
//@ trials: --model predicate --trials 64 => outcomes.fault=64
//@ trials: --model predicate --trials 4 --verdict program => program.due=4
//@ gpu: --model predicate --trials 3 => outcomes.fault=3
//@ gpu: --model predicate --trials 2 --verdict program => program.due=2
//@ gpu: --model predicate --trials 2 --verdict program --with rmt:pair => program.due=2
#include "common.h"

__global__ void check(int *out, const int *in) {
    if (in[threadIdx.x] != 0)
        __trap();
    out[threadIdx.x] = 5;
}

int main() {
    Numbers out(0), in(0);
    check<<<1, 64>>>(out.data, in.data);
    for (int value : out.read())
        if (value != 5)
            return 1;
}
