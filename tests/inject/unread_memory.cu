// A bit of memory that is written before it is read, or never read, changes nothing.
//@ trials: --model memory-cell --trials 64 => outcomes.masked=64
//@ gpu: --model memory-cell --trials 4 => outcomes.masked=4
#include "common.h"

__global__ void store(int *out) { out[threadIdx.x] = 5; }

int main() {
    Numbers out(0), unread(1);
    store<<<1, 64>>>(out.data);
    for (int value : out.read())
        if (value != 5)
            return 1;
}
