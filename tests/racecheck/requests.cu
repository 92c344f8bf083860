#include "../memcheck/memcheck.h"
#include <warpgrind/requests.h>

// What a program says of its threads: that a race is meant, that an access is not to be checked, and what orders them.
#ifdef FIXED
#define IF_FIXED(request) request
#else
#define IF_FIXED(request)
#endif

// How many is about enough.
__global__ void count_about(int *count) {
    *count += 1; //~ ERROR data-race
}

__global__ void count_unchecked(int *count) {
    IF_FIXED(WARPGRIND_CHECKS_OFF());
    *count += 1; //~ ERROR data-race
    IF_FIXED(WARPGRIND_CHECKS_ON());
}

// Atomic operations without fences do not order the data, says CUDA; who wrote this knows more.
__global__ void hand_over(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 42;
        IF_FIXED(WARPGRIND_HAPPENS_BEFORE(flag));
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        IF_FIXED(WARPGRIND_HAPPENS_AFTER(flag));
        *out = *data; //~ ERROR data-race
    }
}

// What comes after the request is not ordered by it.
__global__ void hand_over_too_early(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        IF_FIXED(*data = 42);
        WARPGRIND_HAPPENS_BEFORE(flag);
#ifndef FIXED
        *data = 42;
#endif
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        WARPGRIND_HAPPENS_AFTER(flag);
        *out = *data; //~ ERROR data-race
    }
}

int main() {
    int *count = device<int>(2);
    IF_FIXED(WARPGRIND_BENIGN_RACE(count, sizeof(int)));
    count_about<<<4, 1>>>(count);
    count_unchecked<<<4, 1>>>(count + 1);
    hand_over<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    hand_over_too_early<<<2, 1>>>(device<int>(1), device<int>(1), device<int>(1));
    return finish();
}
