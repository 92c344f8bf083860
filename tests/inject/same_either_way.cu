// A predicate that chooses between equal values is masked.
//@ trials: --model predicate --trials 64 => outcomes.masked=64
//@ gpu: --model predicate --trials 3 => outcomes.masked=3
#include "common.h"

__global__ void choose(int *out, int value, int same) { out[threadIdx.x] = out[threadIdx.x] == 0 ? value : same; }

int main() {
    Numbers out(0);
    choose<<<1, 64>>>(out.data, 5, 5);
    for (int value : out.read())
        if (value != 5)
            return 1;
}
