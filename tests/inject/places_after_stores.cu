// Of two copies of a thread only one stores, and both have as many places: a fault behind a store is found in either.
//@ trials: --model skip --trials 200 --with rmt:pair => invalid=0 effective=79 protected.detected=37
//@ trials: --model register-file --trials 200 --with rmt:pair => invalid=0 effective=71 protected.detected=67
//@ gpu: --model skip --trials 6 --with rmt:pair => invalid=0
//@ gpu: --model register-file --trials 6 --with rmt:pair => invalid=0
#include "common.h"

__global__ void store_twice(int *first, int *second, int value) {
    first[threadIdx.x] = value;
    second[threadIdx.x] = value * value;
}

int main() {
    Numbers first(0), second(0);
    store_twice<<<1, 64>>>(first.data, second.data, 5);
    ok(cudaDeviceSynchronize());
}
