#include "memcheck.h"

__global__ void add(const int *in, int *out, int n) {
    int sum = 0;
    for (int i = 0; i < n + WRONG_OR_RIGHT(1, 0); i++)
        sum += in[i]; //~ ERROR out-of-bounds
    *out = sum;
}

int main() {
    add<<<1, 1>>>(device<int>(100), device<int>(1), 100);
    return finish();
}
