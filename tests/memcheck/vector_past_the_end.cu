#include "memcheck.h"

__global__ void copy(const float4 *in, float4 *out) {
    int i = threadIdx.x;
    out[i] = in[i]; //~ ERROR out-of-bounds
}

int main() {
    float *in = device<float>(WRONG_OR_RIGHT(126, 128));
    copy<<<1, 32>>>((const float4 *)in, device<float4>(32));
    return finish();
}
