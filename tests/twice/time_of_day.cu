//@ flags: --fail-on warning
//@ finds: not-repeatable
#include "../memcheck/memcheck.h"

__device__ unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// What time it is differs from run to run: by a few units of two milliseconds, so that the lowest byte does. What does not: a
// counter in memory of the host, which is set back in between.
__global__ void draw(unsigned long long *ticket, unsigned *counter) {
    unsigned long long begin = nanoseconds(), now;
    do
        now = nanoseconds();
    while (now - begin < 4'000'000);
    *ticket = WRONG_OR_RIGHT(now >> 21, 7) + atomicAdd(counter, 1);
}

int main() {
    static unsigned counter;
    unsigned *mapped;
    OK(cudaHostRegister(&counter, sizeof counter, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&mapped, &counter, 0));
    draw<<<1, 1>>>(device<unsigned long long>(1), mapped);
    int exit_code = finish();
    OK(cudaHostUnregister(&counter));
    return counter == 1 ? exit_code : 3;
}
