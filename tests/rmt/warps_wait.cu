//@ flags: --variant warp-pair
#include "../memcheck/memcheck.h"

// Threads mark what nobody has marked yet: a race, in which copies of a warp take different branches. Lanes of one copy then wait
// for lanes of the other, which waits for lanes of the first: the launch ends all the same.
__global__ void mark(int *marks, int n) {
    unsigned place = threadIdx.x;
    int count = 1 + place * 2654435761u % 7;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        place = place * 1664525u + 1013904223u + i;
        int *at = &marks[WRONG_OR_RIGHT((place >> 8) % n, threadIdx.x)];
        if (*at == 0)
            *at = 1; //~ ERROR copies-differ
    }
} //~ ERROR copies-differ

int main() {
    int *marks = device<int>(256);
    cudaMemset(marks, 0, 256 * sizeof(int));
    mark<<<1, 256>>>(marks, 64);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != WRONG_OR_RIGHT(cudaErrorECCUncorrectable, cudaSuccess))
        return 3;
    return 0;
}
