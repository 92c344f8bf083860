// What kernels print with each format.
//@ stdout: int -5 05 +7 [   42] [42   ] [00042]
//@ stdout: unsigned 4294967295 hex ff FF 0xff octal 17 0100
//@ stdout: long -1234567890123 18446744073709551615 deadbeefcafe
//@ stdout: short -3 char 65 size 99
//@ stdout: float 3.500000 3.50 [    3.5] 1.250000e+10 1.25E+10 0.0001 1e-05 1e+06
//@ stdout: float inf -inf nan 0x1.8p+1
//@ stdout: char A string hello [  hello] [hel] percent %
//@ stdout: width [   12] precision [3.142] left [7   ]
//@ stdout: pointer (nil) 0x1234
//@ stdout: empty  end
//@ variants: static shared sm_75 sm_90 rdc G

#include <cstdio>

__global__ void print(const char *text, double three_and_a_half) {
    printf("int %d %02d %+d [%5d] [%-5d] [%05d]\n", -5, 5, 7, 42, 42, 42);
    printf("unsigned %u hex %x %X %#x octal %o %#o\n", 0xffffffffu, 255, 255, 255, 15, 64);
    printf("long %lld %llu %llx\n", -1234567890123LL, ~0ULL, 0xdeadbeefcafeULL);
    printf("short %hd char %d size %zu\n", (short)-3, 'A', (size_t)99);
    printf("float %f %.2f [%7.1f] %e %.2E %g %g %g\n", three_and_a_half, three_and_a_half, three_and_a_half, 1.25e10, 1.25e10, 0.0001, 0.00001, 1e6);
    printf("float %f %f %f %a\n", 1.0 / 0.0, -1.0 / 0.0, __longlong_as_double(0x7ff8000000000000LL), 3.0);
    printf("char %c string %s [%7s] [%.3s] percent %%\n", 'A', text, "hello", "hello");
    printf("width [%*d] precision [%.*f] left [%-*d]\n", 5, 12, 3, 3.14159, 4, 7);
    printf("pointer %p %p\n", (void *)nullptr, (void *)0x1234);
    printf("empty %s end\n", "");
}

int main() {
    char *text;
    cudaMalloc(&text, 6);
    cudaMemcpy(text, "hello", 6, cudaMemcpyHostToDevice);
    print<<<1, 1>>>(text, 3.5);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
