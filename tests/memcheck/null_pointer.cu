#include "memcheck.h"

__global__ void write(int *data) {
    data[threadIdx.x] = 1; //~ ERROR null-pointer
}

int main() {
    write<<<1, 8>>>(WRONG_OR_RIGHT(nullptr, device<int>(8)));
    return finish();
}
