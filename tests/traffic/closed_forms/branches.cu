#include "../../memcheck/memcheck.h"

// Branches: how often warps execute them, at how many lanes part, and how many lanes wait for a side that has code of its own.
// The stores are volatile asm, so that the compiler cannot make one of two sides.
#define STORE(VALUE) asm volatile("st.global.u32 [%0], %1;" ::"l"(to + threadIdx.x), "r"(VALUE) : "memory")

// Both sides have code: 16 lanes wait for each.
__global__ void both_sides(int *to, int odd) {
    if (threadIdx.x % 2 == odd) //~ BRANCH executed=2 divergent=2 idle_lanes=2*32
        STORE(1); //~ TRAFFIC global store requests=2 sectors=2*4 cache_lines=2*1
    else
        STORE(2); //~ TRAFFIC global store requests=2 sectors=2*4 cache_lines=2*1
}

// One lane of each warp does something, and 31 wait.
__global__ void first_lane(int *to) {
    if (threadIdx.x % 32 == 0) //~ BRANCH executed=2 divergent=2 idle_lanes=2*31
        STORE(1); //~ TRAFFIC global store requests=2 sectors=2*1 cache_lines=2*1
}

// Whole warps: nobody waits.
__global__ void first_warp(int *to) {
    if (threadIdx.x < 32) //~ BRANCH executed=2 divergent=0 idle_lanes=0
        STORE(1); //~ TRAFFIC global store requests=1 sectors=4 cache_lines=1
}

// 50 of 64 threads go on: 14 of the second warp do not.
__global__ void bounds(int *to, int count) {
    if (threadIdx.x >= count) //~ BRANCH executed=2 divergent=1 idle_lanes=14
        return;
    STORE(1); //~ TRAFFIC global store requests=2 sectors=4+3 cache_lines=2
}

int main() {
    int *to = device<int>(64);
    both_sides<<<1, 64>>>(to, 1);
    first_lane<<<1, 64>>>(to);
    first_warp<<<1, 64>>>(to);
    bounds<<<1, 64>>>(to, 50);
    return finish();
}
