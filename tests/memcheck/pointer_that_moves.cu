#include "memcheck.h"

__global__ void sum(const short *data, const short *end, int *out) {
    int sum = 0;
    do
        sum += *data; //~ ERROR out-of-bounds
    while (++data != end);
    *out = sum;
}

int main() {
    short *data = device<short>(50);
    sum<<<1, 1>>>(data, data + WRONG_OR_RIGHT(52, 50), device<int>(1));
    return finish();
}
