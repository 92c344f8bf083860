#include "memcheck.h"

__global__ void write(int *data, long offset) {
    data[offset] = 1; //~ ERROR wrong-allocation
}

int main() {
    int *one = device<int>(1024), *other = device<int>(1024);
    write<<<1, 1>>>(one, WRONG_OR_RIGHT(other - one, 100));
    return finish();
}
