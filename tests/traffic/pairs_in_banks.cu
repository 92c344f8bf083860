//@ exit: 0
#include "../memcheck/memcheck.h"

// Elements of 8 bytes, of which every fourth is accessed: four lanes of each half of the warp are in one pair of banks.
const int STEP = WRONG_OR_RIGHT(4, 5);

__global__ void every_fourth(double *to) {
    __shared__ volatile double tile[32 * STEP];
    tile[threadIdx.x * STEP] = threadIdx.x; //~ ERROR bank-conflict
    to[threadIdx.x] = 1;
}

int main() {
    every_fourth<<<1, 32>>>(device<double>(32));
    return finish();
}
