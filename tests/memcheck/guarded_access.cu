#include "memcheck.h"

__global__ void copy(const int *in, int *out, int n) {
    int i = threadIdx.x;
    int value = i <= n - WRONG_OR_RIGHT(0, 1) ? in[i] : -1; //~ ERROR out-of-bounds
    out[i] = value;
}

int main() {
    copy<<<1, 64>>>(device<int>(40), device<int>(64), 40);
    return finish();
}
