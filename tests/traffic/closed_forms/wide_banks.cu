#include "../../memcheck/memcheck.h"

// Accesses to 8 and 16 bytes of shared memory. Halves of the warp take turns for 8 bytes, quarters for 16: N elements apart, with
// 16 or 8 lanes in as many pairs or quadruples of banks, g = gcd(N, 16) or gcd(N, 8) lanes conflict in each turn.
// Accesses are volatile or asm, so that the compiler neither splits nor removes them.
#define EIGHT(N)                                                                                                       \
    __global__ void eight_##N(double *to) {                                                                            \
        __shared__ volatile double tile[31 * N + 1];                                                                   \
        tile[threadIdx.x * N] = 1;                                                                                     \
        __syncthreads();                                                                                               \
        to[threadIdx.x] = tile[threadIdx.x * N];                                                                       \
    }
#define SIXTEEN(N)                                                                                                     \
    __global__ void sixteen_##N(float4 *to) {                                                                          \
        __shared__ float4 tile[31 * N + 1];                                                                            \
        unsigned at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * N);                                      \
        float4 v = make_float4(1, 2, 3, 4);                                                                            \
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w));    \
        __syncthreads();                                                                                               \
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"                                                        \
                     : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)                                                      \
                     : "r"(at));                                                                                       \
        to[threadIdx.x] = v;                                                                                           \
    }

EIGHT(1)    //~ TRAFFIC shared store requests=1 bank_ways_max=1 bank_passes=2*1; shared load requests=1 bank_ways_max=1 bank_passes=2*1; global store requests=1 sectors=8 cache_lines=2
EIGHT(2)    //~ TRAFFIC shared store requests=1 bank_ways_max=2 bank_passes=2*2; shared load requests=1 bank_ways_max=2 bank_passes=2*2; global store requests=1 sectors=8 cache_lines=2
EIGHT(3)    //~ TRAFFIC shared store requests=1 bank_ways_max=1 bank_passes=2*1; shared load requests=1 bank_ways_max=1 bank_passes=2*1; global store requests=1 sectors=8 cache_lines=2
EIGHT(4)    //~ TRAFFIC shared store requests=1 bank_ways_max=4 bank_passes=2*4; shared load requests=1 bank_ways_max=4 bank_passes=2*4; global store requests=1 sectors=8 cache_lines=2
EIGHT(16)   //~ TRAFFIC shared store requests=1 bank_ways_max=16 bank_passes=2*16; shared load requests=1 bank_ways_max=16 bank_passes=2*16; global store requests=1 sectors=8 cache_lines=2
EIGHT(17)   //~ TRAFFIC shared store requests=1 bank_ways_max=1 bank_passes=2*1; shared load requests=1 bank_ways_max=1 bank_passes=2*1; global store requests=1 sectors=8 cache_lines=2
EIGHT(32)   //~ TRAFFIC shared store requests=1 bank_ways_max=16 bank_passes=2*16; shared load requests=1 bank_ways_max=16 bank_passes=2*16; global store requests=1 sectors=8 cache_lines=2
SIXTEEN(1)  //~ TRAFFIC shared store requests=1 bank_ways_max=1 bank_passes=4*1; shared load requests=1 bank_ways_max=1 bank_passes=4*1; global store requests=1 sectors=16 cache_lines=4
SIXTEEN(2)  //~ TRAFFIC shared store requests=1 bank_ways_max=2 bank_passes=4*2; shared load requests=1 bank_ways_max=2 bank_passes=4*2; global store requests=1 sectors=16 cache_lines=4
SIXTEEN(3)  //~ TRAFFIC shared store requests=1 bank_ways_max=1 bank_passes=4*1; shared load requests=1 bank_ways_max=1 bank_passes=4*1; global store requests=1 sectors=16 cache_lines=4
SIXTEEN(8)  //~ TRAFFIC shared store requests=1 bank_ways_max=8 bank_passes=4*8; shared load requests=1 bank_ways_max=8 bank_passes=4*8; global store requests=1 sectors=16 cache_lines=4
SIXTEEN(12) //~ TRAFFIC shared store requests=1 bank_ways_max=4 bank_passes=4*4; shared load requests=1 bank_ways_max=4 bank_passes=4*4; global store requests=1 sectors=16 cache_lines=4

int main() {
    void *to = device<char>(1 << 12);
    eight_1<<<1, 32>>>((double *)to);
    eight_2<<<1, 32>>>((double *)to);
    eight_3<<<1, 32>>>((double *)to);
    eight_4<<<1, 32>>>((double *)to);
    eight_16<<<1, 32>>>((double *)to);
    eight_17<<<1, 32>>>((double *)to);
    eight_32<<<1, 32>>>((double *)to);
    sixteen_1<<<1, 32>>>((float4 *)to);
    sixteen_2<<<1, 32>>>((float4 *)to);
    sixteen_3<<<1, 32>>>((float4 *)to);
    sixteen_8<<<1, 32>>>((float4 *)to);
    sixteen_12<<<1, 32>>>((float4 *)to);
    return finish();
}
