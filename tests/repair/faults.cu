//@ exit: 0
//@ flags: --unit thread
#include "../memcheck/memcheck.h"

// Threads that disturb each other compute an address that none has in the serial order: the launch does not end with that.
__global__ void indices(int *index, int **pointers) {
    int mine = threadIdx.x;
    *index = mine;
    asm volatile("" ::: "memory"); // The compiler knows what it has stored.
    int now = *index; //~ ERROR conflict
    // One thread after another finds its own number there.
    *pointers[now - mine] += 1;
}

int main() {
    int *index = device<int>(1), *count = device<int>(1), seen;
    int **pointers = device<int *>(64);
    OK(cudaMemcpy(pointers, &count, sizeof count, cudaMemcpyHostToDevice));
    indices<<<1, WRONG_OR_RIGHT(64, 1)>>>(index, pointers);
    OK(cudaMemcpy(&seen, count, sizeof seen, cudaMemcpyDeviceToHost));
    return seen == WRONG_OR_RIGHT(64, 1) ? finish() : 3;
}
