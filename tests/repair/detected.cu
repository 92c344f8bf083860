//@ flags: --detect
#include "../memcheck/memcheck.h"

// With --detect, what is not as in the serial order is an error, and nothing is repaired: lanes of a warp lose increments.
__global__ void increment(int *counter) {
#ifdef FIXED
    atomicAdd(counter, 1);
#else
    ++*counter; //~ ERROR conflict
#endif
}

int main() {
    int seen, *counter = device<int>(1);
    increment<<<1, 32>>>(counter);
    OK(cudaMemcpy(&seen, counter, sizeof seen, cudaMemcpyDeviceToHost));
    if ((seen == 32) != WRONG_OR_RIGHT(false, true))
        return 3;
    return finish();
}
