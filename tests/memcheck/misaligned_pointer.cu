#include "memcheck.h"

__global__ void read(const double *data, double *out) {
    out[threadIdx.x] = data[threadIdx.x]; //~ ERROR misaligned
}

int main() {
    char *data = device<char>(1000);
    read<<<1, 8>>>((const double *)(data + WRONG_OR_RIGHT(4, 8)), device<double>(8));
    return finish();
}
