// A hundred thousand launches of a small kernel do not let the process grow.

#include "../expect.h"
#include <cstring>

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
    // The kernel is compiled again, better, when it has run for a while: memory that is taken
    // once. What grows with each launch grows in each of the windows.
    const int windows = 5, launches_of_window = 20000;
    long least_growth = 1L << 40;
    for (int window = 0; window < windows; window++) {
        long before = resident_kilobytes();
        for (int i = 0; i < launches_of_window; i++) {
            increment<<<1, 1>>>(p);
            if (i % 1000 == 999) OK(cudaDeviceSynchronize());
        }
        long growth = resident_kilobytes() - before;
        if (growth < least_growth) least_growth = growth;
    }
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == windows * launches_of_window);
    CHECK(least_growth < 1024);
    return done();
}
