//@ flags: --kernel-name kns=wanted
#include "memcheck.h"

__global__ void other(int *data) {
    data[threadIdx.x + WRONG_OR_RIGHT(64, 0)] = 1;
}

__global__ void wanted(int *data) {
    data[threadIdx.x + WRONG_OR_RIGHT(64, 0)] = 1; //~ ERROR out-of-bounds
}

int main() {
    int *data = device<int>(64);
    other<<<1, 64>>>(data);
    wanted<<<1, 64>>>(data);
    return finish();
}
