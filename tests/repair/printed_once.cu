//@ exit: 0
#include "../memcheck/memcheck.h"

// What a run prints that is undone is not printed.
__global__ void count(int *counter) {
    int now = *counter;
    *counter = now + 1; //~ ERROR conflict
    if (now % 8 == 0)
        printf("%d\n", now);
}

int main() {
    int *counter = device<int>(1), seen;
    count<<<1, WRONG_OR_RIGHT(32, 1)>>>(counter);
    OK(cudaMemcpy(&seen, counter, sizeof seen, cudaMemcpyDeviceToHost));
    return seen == WRONG_OR_RIGHT(32, 1) ? finish() : 3;
}
