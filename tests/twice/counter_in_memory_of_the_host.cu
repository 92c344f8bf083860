//@ flags: --fail-on warning
//@ finds: not-repeatable
#include "../memcheck/memcheck.h"

// A counter that nobody sets back: what runs again from the same memory of the device does not see the same.
__global__ void draw(unsigned *ticket, unsigned *counter) { *ticket = WRONG_OR_RIGHT(atomicAdd(counter, 1), *ticket + 1); }

int main() {
    unsigned *counter;
    OK(cudaHostAlloc(&counter, sizeof *counter, cudaHostAllocMapped));
    *counter = 0;
    draw<<<1, 1>>>(device<unsigned>(1), counter);
    return finish();
}
