// Ten thousand trials in one process leave it as it was: it has not grown, and launches that nobody strikes do what they should.
//@ trials: --trials 10000 --kernel-name mix --launch-skip 1 --launch-count 1 => trials=10000 outcomes.sdc>1000 outcomes.fault>1000
#include "common.h"

__global__ void mix(unsigned *out, const int *in, int rounds) {
    unsigned value = in[threadIdx.x];
    for (int i = 0; i < rounds; ++i) {
        value = value * 1664525 + 1013904223;
        value ^= value >> 13;
    }
    out[threadIdx.x] = value;
}

// Pages of the process that are in memory.
static long resident() {
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) exit(4);
    fclose(file);
    return pages;
}

static bool launch(const Numbers &out, const Numbers &in, int rounds) {
    mix<<<1, 64>>>((unsigned *)out.data, in.data, rounds);
    unsigned wanted = 7;
    for (int i = 0; i < rounds; ++i) {
        wanted = wanted * 1664525 + 1013904223;
        wanted ^= wanted >> 13;
    }
    for (int value : out.read())
        if ((unsigned)value != wanted) return false;
    return true;
}

int main() {
    Numbers out(0), in(7);
    if (!launch(out, in, 5)) return 1;
    long before = resident();
    // This one is struck.
    if (!launch(out, in, 5)) return 1;
    long grown = (resident() - before) * 4 / 1024;
    if (grown > 32) {
        fprintf(stderr, "the process has grown by %ld MiB\n", grown);
        return 2;
    }
    return launch(out, in, 9) ? 0 : 1;
}
