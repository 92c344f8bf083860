#include "../../memcheck/memcheck.h"

// Addresses that neither rise nor fall from lane to lane, lanes that access the same, warps that are not whole, and rows of
// blocks that are shorter than a warp.
#define PATTERN(NAME, INDEX)                                                                                           \
    __global__ void NAME(float *to, const volatile float *from) {                                                      \
        int i = threadIdx.x + threadIdx.y * blockDim.x;                                                                \
        float value = from[INDEX];                                                                                     \
        if (value != 0)                                                                                                \
            to[i] = value;                                                                                             \
    }

PATTERN(same, 5)                        //~ TRAFFIC global load requests=1 sectors=1 cache_lines=1 bytes=128 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(backwards, 31 - i)              //~ TRAFFIC global load requests=1 sectors=4 cache_lines=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(neighbours, i ^ 1)              //~ TRAFFIC global load requests=1 sectors=4 cache_lines=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(mixed, i * 7 % 32)              //~ TRAFFIC global load requests=1 sectors=4 cache_lines=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(halves, i % 16)                 //~ TRAFFIC global load requests=1 sectors=2 cache_lines=1 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(four_places, i % 4 * 64)        //~ TRAFFIC global load requests=1 sectors=4 cache_lines=4 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(groups_of_8, i / 8 * 64 + i % 8) //~ TRAFFIC global load requests=1 sectors=4 cache_lines=4 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(squares, i * i)                 //~ TRAFFIC global load requests=1 sectors=30 cache_lines=24 //~ BRANCH executed=1 divergent=0 idle_lanes=0
PATTERN(rows_of_8, threadIdx.y * 64 + threadIdx.x) //~ TRAFFIC global load requests=2 sectors=2*4 cache_lines=2*4 //~ BRANCH executed=2 divergent=0 idle_lanes=0
PATTERN(part, i)                        //~ TRAFFIC global load requests=2 sectors=4+1 cache_lines=2 bytes=40*4 //~ BRANCH executed=2 divergent=0 idle_lanes=0
PATTERN(one_thread, i)                  //~ TRAFFIC global load requests=1 sectors=1 cache_lines=1 bytes=4 //~ BRANCH executed=1 divergent=0 idle_lanes=0

// Lanes that do not follow each other: 16 of them, in the words 0, 2 ... 30.
__global__ void even_lanes(float *to, const float *from) {
    int i = threadIdx.x;
    if (i % 2 == 0) //~ BRANCH executed=1 divergent=1 idle_lanes=16
        to[i] = from[i]; //~ TRAFFIC global load requests=1 sectors=4 cache_lines=1 bytes=64; global store requests=1 sectors=4 cache_lines=1 bytes=64
}

// Lanes 4 to 11, in words 4 to 11: two sectors.
__global__ void middle_lanes(float *to, const float *from) {
    int i = threadIdx.x;
    if (i >= 4 && i < 12) //~ BRANCH executed=1 divergent=1 idle_lanes=24
        to[i] = from[i]; //~ TRAFFIC global load requests=1 sectors=2 cache_lines=1 bytes=32; global store requests=1 sectors=2 cache_lines=1 bytes=32
}

int main() {
    float *to = device<float>(64), *from = device<float>(1024);
    same<<<1, 32>>>(to, from);
    backwards<<<1, 32>>>(to, from);
    neighbours<<<1, 32>>>(to, from);
    mixed<<<1, 32>>>(to, from);
    halves<<<1, 32>>>(to, from);
    four_places<<<1, 32>>>(to, from);
    groups_of_8<<<1, 32>>>(to, from);
    squares<<<1, 32>>>(to, from);
    rows_of_8<<<1, dim3(8, 8)>>>(to, from);
    part<<<1, 40>>>(to, from);
    one_thread<<<1, 1>>>(to, from);
    even_lanes<<<1, 32>>>(to, from);
    middle_lanes<<<1, 32>>>(to, from);
    return finish();
}
