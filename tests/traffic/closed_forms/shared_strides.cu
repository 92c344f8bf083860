#include "../../memcheck/memcheck.h"

// Lanes N words apart in shared memory: N and 32 banks have the greatest common divisor g, so that g lanes are in each of 32 / g
// banks. A block has two warps, which make a request each. What is stored is N words apart, too.
#define STRIDE(N)                                                                                                      \
    __global__ void stride_##N(float *to) {                                                                            \
        __shared__ volatile float tile[63 * N + 1];                                                                    \
        tile[threadIdx.x * N] = threadIdx.x;                                                                           \
        __syncthreads();                                                                                               \
        to[threadIdx.x] = tile[threadIdx.x * N];                                                                       \
    }

STRIDE(1) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(2) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(3) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(4) //~ TRAFFIC shared load requests=2 bank_ways_max=4 bank_passes=2*4; shared store requests=2 bank_ways_max=4 bank_passes=2*4; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(5) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(6) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(7) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(8) //~ TRAFFIC shared load requests=2 bank_ways_max=8 bank_passes=2*8; shared store requests=2 bank_ways_max=8 bank_passes=2*8; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(9) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(10) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(11) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(12) //~ TRAFFIC shared load requests=2 bank_ways_max=4 bank_passes=2*4; shared store requests=2 bank_ways_max=4 bank_passes=2*4; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(13) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(14) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(15) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(16) //~ TRAFFIC shared load requests=2 bank_ways_max=16 bank_passes=2*16; shared store requests=2 bank_ways_max=16 bank_passes=2*16; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(17) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(18) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(19) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(20) //~ TRAFFIC shared load requests=2 bank_ways_max=4 bank_passes=2*4; shared store requests=2 bank_ways_max=4 bank_passes=2*4; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(21) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(22) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(23) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(24) //~ TRAFFIC shared load requests=2 bank_ways_max=8 bank_passes=2*8; shared store requests=2 bank_ways_max=8 bank_passes=2*8; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(25) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(26) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(27) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(28) //~ TRAFFIC shared load requests=2 bank_ways_max=4 bank_passes=2*4; shared store requests=2 bank_ways_max=4 bank_passes=2*4; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(29) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(30) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(31) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(32) //~ TRAFFIC shared load requests=2 bank_ways_max=32 bank_passes=2*32; shared store requests=2 bank_ways_max=32 bank_passes=2*32; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(33) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(34) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(35) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(36) //~ TRAFFIC shared load requests=2 bank_ways_max=4 bank_passes=2*4; shared store requests=2 bank_ways_max=4 bank_passes=2*4; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(37) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(38) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(39) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(40) //~ TRAFFIC shared load requests=2 bank_ways_max=8 bank_passes=2*8; shared store requests=2 bank_ways_max=8 bank_passes=2*8; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(41) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(42) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(43) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(44) //~ TRAFFIC shared load requests=2 bank_ways_max=4 bank_passes=2*4; shared store requests=2 bank_ways_max=4 bank_passes=2*4; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(45) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(46) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(47) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(48) //~ TRAFFIC shared load requests=2 bank_ways_max=16 bank_passes=2*16; shared store requests=2 bank_ways_max=16 bank_passes=2*16; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(49) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(50) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(51) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(52) //~ TRAFFIC shared load requests=2 bank_ways_max=4 bank_passes=2*4; shared store requests=2 bank_ways_max=4 bank_passes=2*4; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(53) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(54) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(55) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(56) //~ TRAFFIC shared load requests=2 bank_ways_max=8 bank_passes=2*8; shared store requests=2 bank_ways_max=8 bank_passes=2*8; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(57) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(58) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(59) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(60) //~ TRAFFIC shared load requests=2 bank_ways_max=4 bank_passes=2*4; shared store requests=2 bank_ways_max=4 bank_passes=2*4; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(61) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(62) //~ TRAFFIC shared load requests=2 bank_ways_max=2 bank_passes=2*2; shared store requests=2 bank_ways_max=2 bank_passes=2*2; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(63) //~ TRAFFIC shared load requests=2 bank_ways_max=1 bank_passes=2*1; shared store requests=2 bank_ways_max=1 bank_passes=2*1; global store requests=2 sectors=2*4 cache_lines=2*1
STRIDE(64) //~ TRAFFIC shared load requests=2 bank_ways_max=32 bank_passes=2*32; shared store requests=2 bank_ways_max=32 bank_passes=2*32; global store requests=2 sectors=2*4 cache_lines=2*1

int main() {
    float *to = device<float>(64);
    stride_1<<<1, 64>>>(to);
    stride_2<<<1, 64>>>(to);
    stride_3<<<1, 64>>>(to);
    stride_4<<<1, 64>>>(to);
    stride_5<<<1, 64>>>(to);
    stride_6<<<1, 64>>>(to);
    stride_7<<<1, 64>>>(to);
    stride_8<<<1, 64>>>(to);
    stride_9<<<1, 64>>>(to);
    stride_10<<<1, 64>>>(to);
    stride_11<<<1, 64>>>(to);
    stride_12<<<1, 64>>>(to);
    stride_13<<<1, 64>>>(to);
    stride_14<<<1, 64>>>(to);
    stride_15<<<1, 64>>>(to);
    stride_16<<<1, 64>>>(to);
    stride_17<<<1, 64>>>(to);
    stride_18<<<1, 64>>>(to);
    stride_19<<<1, 64>>>(to);
    stride_20<<<1, 64>>>(to);
    stride_21<<<1, 64>>>(to);
    stride_22<<<1, 64>>>(to);
    stride_23<<<1, 64>>>(to);
    stride_24<<<1, 64>>>(to);
    stride_25<<<1, 64>>>(to);
    stride_26<<<1, 64>>>(to);
    stride_27<<<1, 64>>>(to);
    stride_28<<<1, 64>>>(to);
    stride_29<<<1, 64>>>(to);
    stride_30<<<1, 64>>>(to);
    stride_31<<<1, 64>>>(to);
    stride_32<<<1, 64>>>(to);
    stride_33<<<1, 64>>>(to);
    stride_34<<<1, 64>>>(to);
    stride_35<<<1, 64>>>(to);
    stride_36<<<1, 64>>>(to);
    stride_37<<<1, 64>>>(to);
    stride_38<<<1, 64>>>(to);
    stride_39<<<1, 64>>>(to);
    stride_40<<<1, 64>>>(to);
    stride_41<<<1, 64>>>(to);
    stride_42<<<1, 64>>>(to);
    stride_43<<<1, 64>>>(to);
    stride_44<<<1, 64>>>(to);
    stride_45<<<1, 64>>>(to);
    stride_46<<<1, 64>>>(to);
    stride_47<<<1, 64>>>(to);
    stride_48<<<1, 64>>>(to);
    stride_49<<<1, 64>>>(to);
    stride_50<<<1, 64>>>(to);
    stride_51<<<1, 64>>>(to);
    stride_52<<<1, 64>>>(to);
    stride_53<<<1, 64>>>(to);
    stride_54<<<1, 64>>>(to);
    stride_55<<<1, 64>>>(to);
    stride_56<<<1, 64>>>(to);
    stride_57<<<1, 64>>>(to);
    stride_58<<<1, 64>>>(to);
    stride_59<<<1, 64>>>(to);
    stride_60<<<1, 64>>>(to);
    stride_61<<<1, 64>>>(to);
    stride_62<<<1, 64>>>(to);
    stride_63<<<1, 64>>>(to);
    stride_64<<<1, 64>>>(to);
    return finish();
}
