#include "memcheck.h"

__global__ void scale(double *data) {
    data[threadIdx.x] *= 2; //~ ERROR out-of-bounds
}

int main() {
    scale<<<1, WRONG_OR_RIGHT(65, 64)>>>(device<double>(64));
    return finish();
}
