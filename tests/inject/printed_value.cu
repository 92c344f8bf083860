// What a kernel prints is compared, too: memory is as it should be.
//@ trials: --model store-data --trials 32 => outcomes.sdc=32
//@ not-on-gpu: --model store-data --trials 2 => print(int): it prints, and what a GPU prints cannot be taken back (inject: prints)
#include "common.h"

__global__ void print(int value) {
    if (threadIdx.x == 7)
        printf("%d\n", value);
}

int main() {
    print<<<1, 32>>>(5);
    ok(cudaDeviceSynchronize());
}
