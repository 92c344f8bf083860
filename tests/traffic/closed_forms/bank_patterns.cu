#include "../../memcheck/memcheck.h"

// Words of shared memory that lanes access: the most different words in one bank, and so passes.
#define PATTERN(NAME, INDEX)                                                                                           \
    __global__ void NAME(float *to) {                                                                                  \
        __shared__ volatile float tile[2048];                                                                          \
        int i = threadIdx.x + threadIdx.y * blockDim.x;                                                                \
        float value = tile[INDEX];                                                                                     \
        if (value != 0)                                                                                                \
            to[i] = value;                                                                                             \
    }

PATTERN(same, 7)                     //~ TRAFFIC shared load requests=1 bank_ways_max=1 bank_passes=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(backwards, 31 - i)           //~ TRAFFIC shared load requests=1 bank_ways_max=1 bank_passes=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(mixed, i * 7 % 32)           //~ TRAFFIC shared load requests=1 bank_ways_max=1 bank_passes=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(two_words_of_a_bank, i % 2 * 32) //~ TRAFFIC shared load requests=1 bank_ways_max=2 bank_passes=2 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(same_in_halves, i % 16)      //~ TRAFFIC shared load requests=1 bank_ways_max=1 bank_passes=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(runs_of_4, i / 4 * 32)       //~ TRAFFIC shared load requests=1 bank_ways_max=8 bank_passes=8 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(three_in_a_bank, i < 3 ? i * 32 : i) //~ TRAFFIC shared load requests=1 bank_ways_max=3 bank_passes=3 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(one_astray, i == 9 ? 36 : i) //~ TRAFFIC shared load requests=1 bank_ways_max=2 bank_passes=2 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(rows_of_8, threadIdx.y * 32 + threadIdx.x) //~ TRAFFIC shared load requests=1 bank_ways_max=4 bank_passes=4 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(rows_of_8_padded, threadIdx.y * 40 + threadIdx.x) //~ TRAFFIC shared load requests=1 bank_ways_max=1 bank_passes=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(exchanged, i ^ (i >> 2) * 32) //~ TRAFFIC shared load requests=1 bank_ways_max=1 bank_passes=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(part, i * 32)                //~ TRAFFIC shared load requests=1 bank_ways_max=20 bank_passes=20 //~ BRANCH executed=1 divergent=0 idle_lanes=0

// Bytes: four lanes access one word.
__global__ void bytes(char *to) {
    __shared__ volatile char tile[32];
    tile[threadIdx.x] = threadIdx.x; //~ TRAFFIC shared store requests=1 bank_ways_max=1 bank_passes=1
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x]; //~ TRAFFIC shared load requests=1 bank_ways_max=1 bank_passes=1; global store requests=1 sectors=1 cache_lines=1
}

// The steps of a reduction of 64 words whose distance grows: 1, 2, 4 ... 32. At distance s, lanes below 64 / (2 s) access words
// 2 s apart. One warp has 32, 16, 8, 4, 2 and 1 lanes in that. Lanes in one bank: 32 lanes 2 words apart are 2, 16 lanes 4 apart 2,
// 8 lanes 8 apart 2, 4 lanes 16 apart 2, 2 lanes 32 apart 2, and one lane 1: 11 passes for each of two loads and a store.
__global__ void growing(float *to) {
    __shared__ volatile float sums[64];
    int i = threadIdx.x;
#pragma unroll 1
    for (int s = 1; s < 64; s *= 2) { //~ BRANCH executed=6 divergent=0 idle_lanes=0
        if (i < 32 / s) { //~ BRANCH executed=6 divergent=5 idle_lanes=16+24+28+30+31
            float other = sums[2 * s * i + s]; //~ TRAFFIC shared load requests=6 bank_ways_max=2 bank_passes=11
            float own = sums[2 * s * i]; //~ TRAFFIC shared load requests=6 bank_ways_max=2 bank_passes=11
            sums[2 * s * i] = own + other; //~ TRAFFIC shared store requests=6 bank_ways_max=2 bank_passes=11
        }
        __syncwarp();
    }
    to[i] = 1; //~ TRAFFIC global store requests=1 sectors=4 cache_lines=1
}

int main() {
    float *to = device<float>(64);
    same<<<1, 32>>>(to);
    backwards<<<1, 32>>>(to);
    mixed<<<1, 32>>>(to);
    two_words_of_a_bank<<<1, 32>>>(to);
    same_in_halves<<<1, 32>>>(to);
    runs_of_4<<<1, 32>>>(to);
    three_in_a_bank<<<1, 32>>>(to);
    one_astray<<<1, 32>>>(to);
    rows_of_8<<<1, dim3(8, 4)>>>(to);
    rows_of_8_padded<<<1, dim3(8, 4)>>>(to);
    exchanged<<<1, 32>>>(to);
    part<<<1, 20>>>(to);
    bytes<<<1, 32>>>((char *)to);
    growing<<<1, 32>>>(to);
    return finish();
}
