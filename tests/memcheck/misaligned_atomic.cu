#include "memcheck.h"

__global__ void add(char *data) {
    atomicAdd((unsigned long long *)(data + WRONG_OR_RIGHT(12, 16)), 1ULL); //~ ERROR misaligned
}

int main() {
    add<<<1, 1>>>(device<char>(64));
    return finish();
}
