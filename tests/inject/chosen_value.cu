// A predicate that chooses between different values: silent corruption, which both copies of rmt do not have.
//@ trials: --model predicate --trials 64 => outcomes.sdc=64
//@ trials: --model predicate --trials 64 --with rmt:pair => outcomes.sdc=64 protected.detected=64 escaped=0
//@ trials: --model predicate --trials 64 --with rmt:kernel => outcomes.sdc=64 protected.detected=64 escaped=0
//@ trials: --model predicate --trials 6 --with rmt:pair --verdict program => protected.detected=6 program.detected=6
//@ trials: --model warp-wide --trials 6 --with rmt:pair --verdict program => trials=6
//@ gpu: --model predicate --trials 2 --with rmt:pair --assembled => outcomes.sdc=2 protected.detected=2 escaped=0
//@ gpu: --model predicate --trials 2 --with rmt:kernel => outcomes.sdc=2 protected.detected=2 escaped=0
//@ gpu: --model predicate --trials 2 --with rmt:pair --verdict program => protected.detected=2 program.detected=2
//@ gpu: --model warp-wide --trials 2 --with rmt:pair --verdict program => trials=2
#include "common.h"

__global__ void choose(int *out, const int *in, int one, int other) { out[threadIdx.x] = in[threadIdx.x] == 0 ? one : other; }

int main() {
    Numbers out(0), in(0);
    choose<<<1, 64>>>(out.data, in.data, 5, 7);
    for (int value : out.read())
        if (value != 5)
            return 1;
}
