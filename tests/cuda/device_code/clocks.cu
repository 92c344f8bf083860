// Clocks go forward, and a thread that sleeps does so.

#include "../expect.h"

__device__ unsigned long long nanoseconds() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

__global__ void measure(long long *out) {
    long long first = clock64();
    unsigned long long start = nanoseconds();
    __nanosleep(1000);
    for (int i = 0; i < 20; i++) __nanosleep(100000);
    unsigned long long end = nanoseconds();
    long long last = clock64();
    out[0] = last - first;
    out[1] = (long long)(end - start);
    clock_t short_clock = clock();
    out[2] = short_clock != 0;
}

int main() {
    long long *out, host[3] = {};
    OK(cudaMalloc(&out, sizeof host));
    measure<<<1, 1>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] > 0);
    CHECK(host[1] > 0);
    return done();
}
