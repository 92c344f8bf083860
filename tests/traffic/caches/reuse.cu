// One block of a warp goes twice over so many lines, 128 bytes each. The first time nothing is there; the second time all is in L1 if
// it fits, and else none of it, because the line that is needed next is the one that went last.
//
// L1 of sm_80 has 192 KB less the carve-out. The driver gives 1 KB to each of the 32 blocks that can be there: 160 KB are 1,280 lines.
#include "../../memcheck/memcheck.h"

__global__ void all_fit(float *to, const float *from) {
    float sum = 0;
    for (int line = 0; line < 224 * 2; line++)
        sum += from[line % 224 * 32 + threadIdx.x]; //~ CACHES load sectors=2*224*4 l1_hits_low=224*4 l1_hits_high=224*4
    to[threadIdx.x] = sum; //~ CACHES store sectors=4 l1_hits_high=0 memory_sectors_low=4
}

__global__ void too_many(float *to, const float *from) {
    float sum = 0;
    for (int line = 0; line < 1476 * 2; line++)
        sum += from[line % 1476 * 32 + threadIdx.x]; //~ CACHES load sectors=2*1476*4 l1_hits_high=0 l2_hits_low=1476*4
    to[threadIdx.x] = sum; //~ CACHES store sectors=4 l1_hits_high=0 memory_sectors_low=4
}

// One word of each line: a sector comes, and no more.
__global__ void one_word(float *to, const float *from) {
    float sum = 0;
    for (int part = 0; part < 4; part++)
        sum += from[threadIdx.x * 32 + part * 8]; //~ CACHES load sectors=4*32 l1_hits_high=0 memory_sectors_high=4*32
    to[threadIdx.x] = sum; //~ CACHES store sectors=4 l1_hits_high=0 memory_sectors_low=4
}

// What was loaded is changed in L1, and loaded again from there; it goes on to L2.
__global__ void in_place(float *data) {
    volatile int zero = 0;
    float value = data[threadIdx.x]; //~ CACHES load sectors=4 l1_hits_high=0 memory_sectors_high=4
    data[threadIdx.x] = value + 1; //~ CACHES store sectors=4 l1_hits_low=4 memory_sectors_low=4
    __syncwarp();
    data[32 + threadIdx.x] = data[31 - threadIdx.x + zero]; //~ CACHES load sectors=4 l1_hits_low=4; store sectors=4 l1_hits_high=0 memory_sectors_low=4
}

// Atomic operations take place in L2.
__global__ void atomics(int *count) {
    atomicAdd(count + threadIdx.x % 8, 1); //~ CACHES atomic sectors=1 l1_hits_high=0 l2_hits_high=0 memory_sectors_low=1
    atomicAdd(count + threadIdx.x % 8, 1); //~ CACHES atomic sectors=1 l1_hits_high=0 l2_hits_low=1 memory_sectors_high=0
}

// Eight blocks that read the same line are on multiprocessors of their own, which share L2.
__global__ void same_line(float *to, const float *from) {
    to[blockIdx.x * 32 + threadIdx.x] = from[threadIdx.x]; //~ CACHES load sectors=8*4 l1_hits_high=0 l2_hits_low=7*4; store sectors=8*4 memory_sectors_low=8*4
}

int main() {
    float *to = device<float>(256), *from = device<float>(1476 * 32);
    all_fit<<<1, 32>>>(to, from);
    too_many<<<1, 32>>>(to, from);
    one_word<<<1, 32>>>(to, from);
    in_place<<<1, 32>>>(from);
    atomics<<<1, 32>>>(device<int>(8));
    same_line<<<8, 32>>>(to, from);
    return finish();
}
