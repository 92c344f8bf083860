// Functions of mathematics, of both precisions, as close to those of the host as CUDA promises.
//@ variants: static shared sm_90 clang

#include "../expect.h"
#include <cmath>

#define FUNCTIONS(F) F(sin) F(cos) F(tan) F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sqrt) F(cbrt) F(sinh) F(cosh) \
    F(tanh) F(asinh) F(atan) F(erf) F(erfc) F(tgamma) F(lgamma) F(floor) F(ceil) F(trunc) F(rint) F(round) F(fabs)

enum { functions = 27, two = 6, points = 50 };

template <class T> __global__ void evaluate(const T *x, T *out) {
    int i = threadIdx.x;
    T v = x[i], *mine = out + i * (functions + two);
    int k = 0;
#define F(name) mine[k++] = name(v);
    FUNCTIONS(F)
#undef F
    mine[k++] = pow(v, (T)1.7);
    mine[k++] = fmod(v, (T)0.3);
    mine[k++] = atan2(v, (T)2);
    mine[k++] = hypot(v, (T)3);
    mine[k++] = fma(v, v, (T)-1);
    mine[k++] = copysign(v, (T)-1);
}

template <class T> static void compare(T tolerance) {
    T x[points], *device_x, *out;
    static T host[points * (functions + two)];
    for (int i = 0; i < points; i++) x[i] = (T)0.01 + (T)0.17 * i;
    OK(cudaMalloc(&device_x, sizeof x));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice));
    evaluate<<<1, points>>>(device_x, out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < points; i++) {
        long double v = x[i];
        T *mine = host + i * (functions + two);
        long double wanted[functions + two];
        int k = 0;
#define F(name) wanted[k++] = std::name(v);
        FUNCTIONS(F)
#undef F
        wanted[k++] = std::pow(v, (long double)(T)1.7);
        wanted[k++] = std::fmod(v, (long double)(T)0.3);
        wanted[k++] = std::atan2(v, 2.0L);
        wanted[k++] = std::hypot(v, 3.0L);
        wanted[k++] = v * v - 1;
        wanted[k++] = -v;
        for (k = 0; k < functions + two; k++) {
            long double allowed = tolerance * (std::fabs(wanted[k]) > 1 ? std::fabs(wanted[k]) : 1);
            if (!(std::fabs(mine[k] - wanted[k]) <= allowed)) {
                printf("function %d of %g: %.17g instead of %.17Lg\n", k, (double)x[i], (double)mine[k], wanted[k]);
                failed_checks++;
            }
        }
    }
}

__global__ void integers(unsigned *out) {
    out[0] = __popc(0xf0f0);
    out[1] = __clz(1);
    out[2] = __ffs(8);
    out[3] = __brev(1);
    out[4] = __umulhi(0x80000000, 6);
    out[5] = __byte_perm(0x33221100, 0x77665544, 0x7520);
    out[6] = __funnelshift_l(0x80000000, 1, 1);
    out[7] = __sad(-5, 7, 1);
    out[8] = (unsigned)__mul24(3, -4);
    out[9] = (unsigned)__float_as_int(1.0f);
    out[10] = (unsigned)__double2int_rn(2.5);
    out[11] = (unsigned)__float2int_rz(-2.9f);
    out[12] = __vadd4(0x01020304, 0x01010101);
}

int main() {
    compare<double>(1e-14);
    compare<float>(4e-6f);
    unsigned *out, host[13];
    OK(cudaMalloc(&out, sizeof host));
    integers<<<1, 1>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    const unsigned wanted[13] = {8, 31, 4, 0x80000000, 3, 0x77552200, 3, 13, (unsigned)-12, 0x3f800000, 2, (unsigned)-2, 0x02030405};
    for (int i = 0; i < 13; i++) CHECK(host[i] == wanted[i]);
    return done();
}
