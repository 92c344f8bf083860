//@ exit: 0
#include "../memcheck/memcheck.h"

// Approximate results that decide a branch, an address, a mask of lanes; that may decide a branch, through shared memory; and that
// are only stored. The repaired program has exact operations for them.
#ifdef FIXED
#define SINE(x) ((x) / 3)
#define COSINE(x) ((x) / 5)
#define POWER(x) ((x) * 2)
#define LOGARITHM(x) ((x) / 7)
#define QUOTIENT(x, y) ((x) / (y))
#else
#define SINE(x) __sinf(x)
#define COSINE(x) __cosf(x)
#define POWER(x) exp2f(x)
#define LOGARITHM(x) __log2f(x)
#define QUOTIENT(x, y) __fdividef(x, y)
#endif

__device__ __noinline__ bool is_positive(float x) {
    return SINE(x) > 0;
}

__global__ void kernel(int *to, float *quotients, const int *table) {
    __shared__ float tile[32];
    int lane = threadIdx.x;
    if (is_positive(lane))
        to[lane] = 1;
    to[lane] += table[(int)COSINE((float)lane) & 31];
    unsigned mask = ~0u;
    asm volatile("" : "+r"(mask));
    to[lane] += __shfl_sync(mask | (unsigned)(int)POWER((float)(lane + 1)), lane, 0);
    tile[lane] = LOGARITHM((float)(lane + 1));
    __syncthreads();
    if (tile[31 - lane] > 2)
        to[lane] += 1;
    quotients[lane] = QUOTIENT((float)lane, 3.0f);
}

int main() {
    kernel<<<1, 32>>>(device<int>(32), device<float>(32), device<int>(32));
    return finish();
}
