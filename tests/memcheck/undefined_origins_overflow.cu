//@ flags: --track-origins yes
#include "memcheck.h"

// More places than the table has: how many are missing is said, and what is found is the same.
__global__ void copy(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

__global__ void use(const int *in, int *out) {
    if (in[threadIdx.x] > 0) //~ ERROR undefined-branch
        out[threadIdx.x] = 1;
}

int main() {
    const int n = 1 << 18;
    int *in = WRONG_OR_RIGHT(fresh<int>(n), device<int>(n)), *copied = fresh<int>(n), *out = device<int>(64);
    copy<<<n / 256, 256>>>(in, copied);
    use<<<1, 64>>>(copied, out);
    return finish();
}
