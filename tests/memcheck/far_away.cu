#include "memcheck.h"

__global__ void write(int *data, long long index) {
    data[index] = 1; //~ ERROR out-of-bounds
}

int main() {
    write<<<1, 1>>>(device<int>(100), WRONG_OR_RIGHT(1LL << 40, 99));
    return finish();
}
