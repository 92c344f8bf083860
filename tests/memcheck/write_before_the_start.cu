#include "memcheck.h"

__global__ void shift(int *data) {
    int i = threadIdx.x;
    data[i - WRONG_OR_RIGHT(1, 0)] = i; //~ ERROR out-of-bounds
}

int main() {
    shift<<<1, 32>>>(device<int>(32));
    return finish();
}
