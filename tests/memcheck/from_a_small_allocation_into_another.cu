//@ flags: --on-error continue
#include "memcheck.h"

// Allocations that are smaller than the largest access, which has 32 bytes.
__global__ void count(int *counter, long offset) {
    atomicAdd(counter + offset, 1); //~ ERROR wrong-allocation
}

__global__ void write(double *data, long offset) {
    data[offset] = 1; //~ ERROR out-of-bounds
}

__global__ void read(const int4 *vector, int *data) {
    data[0] = vector->x + vector->w; //~ ERROR out-of-bounds
}

int main() {
    int *counter = device<int>(1), *data = device<int>(1024);
    double *two_and_a_half = (double *)device<int>(5);
    int4 *vector = (int4 *)device<int>(WRONG_OR_RIGHT(3, 4));
    count<<<1, 1>>>(counter, WRONG_OR_RIGHT(data - counter, 0));
    write<<<1, 1>>>(two_and_a_half, WRONG_OR_RIGHT(2, 1));
    read<<<1, 1>>>(vector, data);
    return finish();
}
