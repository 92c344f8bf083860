// Threads that print: a warp in the order of its threads, each line whole, and each once.

#include "../expect.h"
#include <cstring>
#include <string>
#include <unistd.h>

__global__ void number() { printf("block %d thread %d says hello\n", blockIdx.x, threadIdx.x); }

int main() {
    // What kernels print goes to a file that is read back.
    char name[] = "/tmp/threads_of_a_warp_XXXXXX";
    int file = mkstemp(name);
    fflush(stdout);
    int saved = dup(1);
    dup2(file, 1);
    number<<<1, 32>>>();
    OK(cudaDeviceSynchronize());
    number<<<20, 64>>>();
    OK(cudaDeviceSynchronize());
    fflush(stdout);
    dup2(saved, 1);

    FILE *lines = fopen(name, "r");
    char line[200];
    int seen[20][64] = {};
    for (int i = 0; i < 32; i++) {
        int block = -1, thread = -1;
        CHECK(fgets(line, sizeof line, lines) && sscanf(line, "block %d thread %d says hello\n", &block, &thread) == 2);
        CHECK(block == 0 && thread == i);
    }
    int count = 0;
    while (fgets(line, sizeof line, lines)) {
        int block = -1, thread = -1;
        char end[8] = "";
        CHECK(sscanf(line, "block %d thread %d says %5s", &block, &thread, end) == 3 && strcmp(end, "hello") == 0);
        if (block >= 0 && block < 20 && thread >= 0 && thread < 64) seen[block][thread]++;
        count++;
    }
    CHECK(count == 20 * 64);
    for (auto &block : seen)
        for (int times : block) CHECK(times == 1);
    fclose(lines);
    unlink(name);
    return done();
}
