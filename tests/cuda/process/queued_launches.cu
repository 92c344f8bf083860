// Launches that nobody waits for do not fill memory: the queue has an end, and the call waits for room in it. The argument is
// how many: a million by hand.
//@ args: 200000
//@ variants: shared
//@ tools: no

#include "../expect.h"
#include "resident.h"
#include <unistd.h>

__global__ void increment(unsigned *cell) { atomicAdd(cell, 1); }

int main(int, char **arguments) {
    const unsigned launches = arguments[1] ? atoi(arguments[1]) : 1000000;
    unsigned *cell, count = 0;
    OK(cudaMalloc(&cell, sizeof *cell));
    OK(cudaMemset(cell, 0, sizeof *cell));
    OK(cudaDeviceSynchronize());
    long before = resident_kilobytes();
    for (unsigned i = 0; i < launches; i++) increment<<<1, 1>>>(cell);
    OK(cudaGetLastError());
    CHECK(resident_kilobytes() < before + 50 * 1024);
    OK(cudaMemcpy(&count, cell, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(count == launches);
    return done();
}
