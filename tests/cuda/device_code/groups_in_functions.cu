// Threads of a warp that come to a function by different calls are not there together, also if it is not inlined.
//@ variants: static G

#include "../expect.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Counts the threads that are here, once for each group of them, and gives the number of the thread among them.
__device__ __noinline__ int join(int *count) {
    cg::coalesced_group here = cg::coalesced_threads();
    if (here.thread_rank() == 0) atomicAdd(count, here.size());
    return here.thread_rank();
}

__global__ void three_calls(int *counts, int *ranks) {
    int i = threadIdx.x, rank;
    if (i % 3 == 0)
        rank = join(counts);
    else if (i % 3 == 1)
        rank = join(counts + 1);
    else
        rank = join(counts + 2);
    ranks[i] = rank;
}

int main() {
    int *counts, *ranks;
    OK(cudaMallocManaged(&counts, 3 * sizeof(int)));
    OK(cudaMallocManaged(&ranks, 32 * sizeof(int)));
    OK(cudaMemset(counts, 0, 3 * sizeof(int)));
    three_calls<<<1, 32>>>(counts, ranks);
    OK(cudaDeviceSynchronize());
    CHECK(counts[0] == 11 && counts[1] == 11 && counts[2] == 10);
    for (int i = 0; i < 32; i++) CHECK(ranks[i] == i / 3);
    return done();
}
