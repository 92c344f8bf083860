// A bit of memory that is copied is wrong in the copy; one of the memory that is written is not.
//@ trials: --model memory-cell --trials 64 => outcomes.sdc>20 outcomes.masked>20 outcomes.fault=0
//@ gpu: --model memory-cell --trials 8 => outcomes.fault=0 trials=8
#include "common.h"

__global__ void copy(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }

int main() {
    Numbers out(0), in(1);
    copy<<<1, 64>>>(out.data, in.data);
    for (int value : out.read())
        if (value != 1)
            return 1;
}
