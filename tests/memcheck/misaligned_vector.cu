#include "memcheck.h"

__global__ void read(const float *data, float4 *out) {
    out[threadIdx.x] = *(const float4 *)(data + WRONG_OR_RIGHT(1, 4) * threadIdx.x); //~ ERROR misaligned
}

int main() {
    read<<<1, 8>>>(device<float>(64), device<float4>(8));
    return finish();
}
