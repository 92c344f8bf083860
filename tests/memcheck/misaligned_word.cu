#include "memcheck.h"

__global__ void read(const char *data, int *out) {
    *out = *(const int *)(data + WRONG_OR_RIGHT(2, 4)); //~ ERROR misaligned
}

int main() {
    read<<<1, 1>>>(device<char>(64), device<int>(1));
    return finish();
}
