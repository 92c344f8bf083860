//@ flags: --share always
#include "../memcheck/memcheck.h"

// Launches that several workers share, each of which keeps records of its own.
const int BLOCKS = 512, THREADS = 256, COUNT = BLOCKS * THREADS;

// The last thread of a block writes to the part of the next one.
__global__ void beyond_its_part(int *out) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = i; //~ ERROR data-race
    if (threadIdx.x == THREADS - 1 && i + 1 < COUNT) out[i + WRONG_OR_RIGHT(1, 0)] = -i;
}

// All blocks add to a few counters.
__global__ void histogram(const int *data, int *bins) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (WRONG_OR_RIGHT(true, false))
        bins[data[i] % 64] += 1; //~ ERROR data-race
    else
        atomicAdd(bins + data[i] % 64, 1);
}

// The block writes what another one reads, at the other end of the grid.
__global__ void reads_far_away(const int *index, int *data, int *out) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (WRONG_OR_RIGHT(true, false)) data[i] = i; //~ ERROR data-race
    out[i] = data[index[i]]; //~ ERROR data-race
}

// A flag for all. Which value it had before is not known to whoever compares records.
__global__ void flag_of_all(const int *data, int *found) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (data[i] % 1000 == 0) {
        if (WRONG_OR_RIGHT(true, false))
            *found = 1; //~ ERROR same-value-race
        else
            atomicExch(found, 1);
    }
}

// Elements are changed in place, and the sum of some is wrong: what was changed on several workers is undone, and changed again.
__global__ void in_place(int *data, int *sum, const int *index) {
    int i = index[blockIdx.x * THREADS + threadIdx.x];
    data[i] += 1;
    if (WRONG_OR_RIGHT(i % 4096 == 0, false)) *sum += data[i]; //~ ERROR data-race
}

int main() {
    int *host = new int[COUNT], *index = device<int>(COUNT), *data = device<int>(COUNT);
    for (int i = 0; i < COUNT; ++i) host[i] = COUNT - 1 - i;
    OK(cudaMemcpy(index, host, COUNT * sizeof(int), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(data, host, COUNT * sizeof(int), cudaMemcpyHostToDevice));
    beyond_its_part<<<BLOCKS, THREADS>>>(device<int>(COUNT));
    histogram<<<BLOCKS, THREADS>>>(index, device<int>(64));
    reads_far_away<<<BLOCKS, THREADS>>>(index, data, device<int>(COUNT));
    flag_of_all<<<BLOCKS, THREADS>>>(index, device<int>(1));
    OK(cudaMemcpy(data, host, COUNT * sizeof(int), cudaMemcpyHostToDevice));
    in_place<<<BLOCKS, THREADS>>>(data, device<int>(1), index);
    OK(cudaMemcpy(host, data, COUNT * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; ++i) {
        if (host[i] != COUNT - i) {
            printf("element %d was changed %d times\n", i, host[i] - (COUNT - 1 - i));
            return 1;
        }
    }
    return finish();
}
