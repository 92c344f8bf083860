// Invalid reads return 0 in registers of 8 and 128 bits too, which a valid read has filled before.
//@ flags: --on-error continue
#include "memcheck.h"

__global__ void read(const unsigned char *bytes, const unsigned long long *words, unsigned long long *out, int index) {
    unsigned int byte;
    unsigned long long low, high;
    // The first read of each is valid, and sets all bits.
    asm volatile("{ .reg .b8 c; ld.global.u8 c, [%1];\n" //~ ERROR out-of-bounds
                 "ld.global.u8 c, [%2];\n"
                 "cvt.u32.u8 %0, c; }"
                 : "=r"(byte)
                 : "l"(bytes), "l"(bytes + index));
    asm volatile("{ .reg .b128 q; ld.global.b128 q, [%2];\n" //~ ERROR out-of-bounds
                 "ld.global.b128 q, [%3];\n"
                 "mov.b128 {%0, %1}, q; }"
                 : "=l"(low), "=l"(high)
                 : "l"(words), "l"(words + index / 8));
    out[0] = byte;
    out[1] = low;
    out[2] = high;
}

int main() {
    const int bytes = 64, past = WRONG_OR_RIGHT(bytes, 0);
    unsigned char *filled = device<unsigned char>(bytes);
    OK(cudaMemset(filled, 0xff, bytes));
    unsigned long long *out = device<unsigned long long>(3), found[3];
    read<<<1, 1>>>(filled, reinterpret_cast<unsigned long long *>(filled), out, past);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDefault));
    unsigned long long all = past == 0 ? ~0ull : 0;
    if (found[0] != (all & 0xff) || found[1] != all || found[2] != all) {
        printf("read %llx %llx %llx\n", found[0], found[1], found[2]);
        return 1;
    }
    return finish();
}
