// A hundred thousand launches of a small kernel do not let the process grow.

#include "../expect.h"
#include <cstring>
#include <unistd.h>

__global__ void increment(int *p) { *p += 1; }

static long resident_kilobytes() {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kilobytes = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "VmRSS:", 6) == 0) kilobytes = atol(line + 6);
    }
    if (file) fclose(file);
    return kilobytes;
}

int main() {
    int *p, value = 0;
    OK(cudaMalloc(&p, sizeof(int)));
    OK(cudaMemset(p, 0, sizeof(int)));
    // Meanwhile the kernel is compiled again, better, which takes memory and then no more.
    const int launches = 100000, warm_up = 40000;
    long before = 0;
    for (int i = 0; i < launches; i++) {
        if (i == warm_up) {
            OK(cudaDeviceSynchronize());
            usleep(300000);
            before = resident_kilobytes();
        }
        increment<<<1, 1>>>(p);
        if (i % 1000 == 999) OK(cudaDeviceSynchronize());
    }
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == launches);
    CHECK(resident_kilobytes() < before + 4096);
    return done();
}
