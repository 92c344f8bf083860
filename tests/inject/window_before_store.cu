// What is stored is struck after copies have compared it, in the one that stores it: this is the window of rmt. It is not there
// if the whole kernel runs twice.
//@ trials: --model store-data --trials 64 --with rmt:pair => outcomes.sdc=64 escaped=64
//@ trials: --model store-data --trials 64 --with rmt:kernel => outcomes.sdc=64 protected.detected=64 escaped=0
//@ gpu: --model store-data --trials 2 --with rmt:pair => outcomes.sdc=2 escaped=2
//@ gpu: --model store-data --trials 2 --with rmt:kernel => outcomes.sdc=2 protected.detected=2 escaped=0
#include "common.h"

__global__ void store(int *out, int value) { out[threadIdx.x] = value; }

int main() {
    Numbers out(0);
    store<<<1, 64>>>(out.data, 5);
    for (int value : out.read())
        if (value != 5)
            return 1;
}
