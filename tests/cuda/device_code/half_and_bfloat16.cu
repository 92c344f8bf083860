// Arithmetic and conversions of numbers of 16 bits.
//@ variants: static shared sm_75 sm_90

#include "../expect.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void half_numbers(float *out) {
    __half a = __float2half(1.5f), b = __float2half(0.1f);
    out[0] = __half2float(__hadd(a, a));
    out[1] = __half2float(__hmul(a, b));
    out[2] = __half2float(__hfma(a, a, b));
    out[3] = __half2float(__hdiv(a, __float2half(3.0f)));
    out[4] = __hgt(a, b);
    out[5] = __half2float(hsqrt(__float2half(2.25f)));
    __half2 pair = __hmul2(__floats2half2_rn(2.0f, 3.0f), __floats2half2_rn(4.0f, 5.0f));
    out[6] = __low2float(pair);
    out[7] = __high2float(pair);
    out[8] = __half2float(__float2half(70000.0f)); // Too large.
    out[9] = __half2int_rn(__float2half(2.5f));
    out[10] = __half2float(__ushort_as_half(0x0001)); // The smallest.
}

__global__ void bfloat_numbers(float *out) {
    __nv_bfloat16 a = __float2bfloat16(1.5f), b = __float2bfloat16(0.1f);
    out[0] = __bfloat162float(__hadd(a, a));
    out[1] = __bfloat162float(__hmul(a, b));
    out[2] = __bfloat162float(b);
    out[3] = __bfloat162float(__float2bfloat16(3e38f));
    __nv_bfloat162 pair = __hadd2(__floats2bfloat162_rn(1.0f, 2.0f), __floats2bfloat162_rn(3.0f, 4.0f));
    out[4] = __low2float(pair);
    out[5] = __high2float(pair);
}

int main() {
    float *out, host[11];
    OK(cudaMalloc(&out, sizeof host));
    half_numbers<<<1, 1>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 3.0f);
    CHECK(host[1] == 0.14990234375f);
    CHECK(host[2] == 2.349609375f);
    CHECK(host[3] == 0.5f && host[4] == 1.0f && host[5] == 1.5f);
    CHECK(host[6] == 8.0f && host[7] == 15.0f);
    CHECK(host[8] > 1e30f && host[9] == 2.0f && host[10] == 5.9604644775390625e-8f);
    bfloat_numbers<<<1, 1>>>(out);
    OK(cudaMemcpy(host, out, 6 * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(host[0] == 3.0f);
    CHECK(host[1] == 0.150390625f);
    CHECK(host[2] == 0.10009765625f);
    CHECK(host[3] > 2.9e38f && host[3] < 3.1e38f);
    CHECK(host[4] == 4.0f && host[5] == 6.0f);
    return done();
}
