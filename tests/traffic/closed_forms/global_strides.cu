#include "../../memcheck/memcheck.h"

// Lanes N words apart. Of 32 words at multiples of N, those below 8 * k words are in the first k sectors of 8 words: there are
// min(4 N, 32) sectors, and min(N, 32) lines of 32 words, in each of 4 requests. What is stored is contiguous: 4 sectors, a line.
#define STRIDE(N)                                                                                                      \
    __global__ void stride_##N(float *to, const float *from) {                                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                 \
        to[i] = from[i * N];                                                                                           \
    }

STRIDE(1) //~ TRAFFIC global load requests=4 sectors=4*4 cache_lines=4*1 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(2) //~ TRAFFIC global load requests=4 sectors=4*8 cache_lines=4*2 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(3) //~ TRAFFIC global load requests=4 sectors=4*12 cache_lines=4*3 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(4) //~ TRAFFIC global load requests=4 sectors=4*16 cache_lines=4*4 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(5) //~ TRAFFIC global load requests=4 sectors=4*20 cache_lines=4*5 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(6) //~ TRAFFIC global load requests=4 sectors=4*24 cache_lines=4*6 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(7) //~ TRAFFIC global load requests=4 sectors=4*28 cache_lines=4*7 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(8) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*8 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(9) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*9 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(10) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*10 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(11) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*11 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(12) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*12 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(13) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*13 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(14) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*14 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(15) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*15 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(16) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*16 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(17) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*17 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(18) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*18 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(19) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*19 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(20) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*20 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(21) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*21 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(22) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*22 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(23) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*23 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(24) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*24 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(25) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*25 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(26) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*26 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(27) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*27 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(28) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*28 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(29) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*29 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(30) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*30 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(31) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*31 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(32) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(33) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(34) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(35) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(36) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(37) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(38) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(39) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(40) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(41) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(42) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(43) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(44) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(45) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(46) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(47) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(48) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(49) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(50) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(51) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(52) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(53) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(54) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(55) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(56) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(57) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(58) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(59) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(60) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(61) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(62) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(63) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1
STRIDE(64) //~ TRAFFIC global load requests=4 sectors=4*32 cache_lines=4*32 bytes=4*128; global store requests=4 sectors=4*4 cache_lines=4*1

int main() {
    float *to = device<float>(128), *from = device<float>(128 * 64);
    stride_1<<<2, 64>>>(to, from);
    stride_2<<<2, 64>>>(to, from);
    stride_3<<<2, 64>>>(to, from);
    stride_4<<<2, 64>>>(to, from);
    stride_5<<<2, 64>>>(to, from);
    stride_6<<<2, 64>>>(to, from);
    stride_7<<<2, 64>>>(to, from);
    stride_8<<<2, 64>>>(to, from);
    stride_9<<<2, 64>>>(to, from);
    stride_10<<<2, 64>>>(to, from);
    stride_11<<<2, 64>>>(to, from);
    stride_12<<<2, 64>>>(to, from);
    stride_13<<<2, 64>>>(to, from);
    stride_14<<<2, 64>>>(to, from);
    stride_15<<<2, 64>>>(to, from);
    stride_16<<<2, 64>>>(to, from);
    stride_17<<<2, 64>>>(to, from);
    stride_18<<<2, 64>>>(to, from);
    stride_19<<<2, 64>>>(to, from);
    stride_20<<<2, 64>>>(to, from);
    stride_21<<<2, 64>>>(to, from);
    stride_22<<<2, 64>>>(to, from);
    stride_23<<<2, 64>>>(to, from);
    stride_24<<<2, 64>>>(to, from);
    stride_25<<<2, 64>>>(to, from);
    stride_26<<<2, 64>>>(to, from);
    stride_27<<<2, 64>>>(to, from);
    stride_28<<<2, 64>>>(to, from);
    stride_29<<<2, 64>>>(to, from);
    stride_30<<<2, 64>>>(to, from);
    stride_31<<<2, 64>>>(to, from);
    stride_32<<<2, 64>>>(to, from);
    stride_33<<<2, 64>>>(to, from);
    stride_34<<<2, 64>>>(to, from);
    stride_35<<<2, 64>>>(to, from);
    stride_36<<<2, 64>>>(to, from);
    stride_37<<<2, 64>>>(to, from);
    stride_38<<<2, 64>>>(to, from);
    stride_39<<<2, 64>>>(to, from);
    stride_40<<<2, 64>>>(to, from);
    stride_41<<<2, 64>>>(to, from);
    stride_42<<<2, 64>>>(to, from);
    stride_43<<<2, 64>>>(to, from);
    stride_44<<<2, 64>>>(to, from);
    stride_45<<<2, 64>>>(to, from);
    stride_46<<<2, 64>>>(to, from);
    stride_47<<<2, 64>>>(to, from);
    stride_48<<<2, 64>>>(to, from);
    stride_49<<<2, 64>>>(to, from);
    stride_50<<<2, 64>>>(to, from);
    stride_51<<<2, 64>>>(to, from);
    stride_52<<<2, 64>>>(to, from);
    stride_53<<<2, 64>>>(to, from);
    stride_54<<<2, 64>>>(to, from);
    stride_55<<<2, 64>>>(to, from);
    stride_56<<<2, 64>>>(to, from);
    stride_57<<<2, 64>>>(to, from);
    stride_58<<<2, 64>>>(to, from);
    stride_59<<<2, 64>>>(to, from);
    stride_60<<<2, 64>>>(to, from);
    stride_61<<<2, 64>>>(to, from);
    stride_62<<<2, 64>>>(to, from);
    stride_63<<<2, 64>>>(to, from);
    stride_64<<<2, 64>>>(to, from);
    return finish();
}
