// Bits of which some are undefined: those that are masked, shifted and compared away do no harm.
#include "memcheck.h"

struct Fields {
    unsigned kind : 3, count : 5, rest : 24;
};

// Writes a bit field of memory that has none yet: the others stay undefined.
__global__ void set_kind(Fields *f) { f[threadIdx.x].kind = threadIdx.x & 7; }

__global__ void kinds(const Fields *f, int *out) {
    if (f[threadIdx.x].kind == 5) atomicAdd(out, 1);
}

__global__ void counts(const Fields *f, int *out) {
    if (f[threadIdx.x].count == 5) atomicAdd(out, 1); //~ ERROR undefined-branch
}

// The low byte is there.
__global__ void low_byte(const int *in, int *out) {
    int x = in[0];
    if ((x & 0xff) == 7) out[0] = 1;
    if (((x << 24) >> 24) > 6) out[1] = 1;
    if ((x & 0xf0) == 0x10) out[2] = 1;
    if ((x | 0xffffff00) == 0xffffff07) out[3] = 1;
}

__global__ void next_byte(const int *in, int *out) {
    if ((in[0] >> 8 & 1) == 1) out[0] = 1; //~ ERROR undefined-branch
}

// Sums go on from the lowest undefined bit.
__global__ void sums(const int *in, int *out) {
    int x = in[0] << 4;
    int even = x + x + 3;
    if (even & 1) out[0] = 1;
    if ((x - 5 & 3) == 3) out[1] = 1;
    if ((x * 8 & 127) == 0) out[2] = 1;
    if (x + 100 & 4096) out[3] = 1; //~ ERROR undefined-branch
}

// A bit that is defined and differs decides.
__global__ void unequal(const unsigned char *in, int *out) {
    if ((in[0] | in[1] << 8) == 0x0109) out[0] = 1;
}

__global__ void equal(const unsigned char *in, int *out) {
    if ((in[0] | in[1] << 8) != 0x0207) out[1] = 1; //~ ERROR undefined-branch
}

int main() {
    Fields *f = fresh<Fields>(32);
    if (WRONG_OR_RIGHT(0, 1)) cudaMemset(f, 0, 128);
    set_kind<<<1, 32>>>(f);
    kinds<<<1, 32>>>(f, device<int>(1));
    counts<<<1, 32>>>(f, device<int>(1));
    int *x = fresh<int>(1);
    if (WRONG_OR_RIGHT(0, 1)) cudaMemset(x, 0, 4);
    char seven = 7;
    cudaMemcpy(x, &seven, 1, cudaMemcpyHostToDevice);
    low_byte<<<1, 1>>>(x, device<int>(4));
    next_byte<<<1, 1>>>(x, device<int>(1));
    sums<<<1, 1>>>(x, device<int>(4));
    unequal<<<1, 1>>>((unsigned char *)x, device<int>(2));
    equal<<<1, 1>>>((unsigned char *)x, device<int>(2));
    return finish();
}
