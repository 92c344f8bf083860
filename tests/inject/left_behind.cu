// A copy of the process goes on with all that a trial left behind, and that is what a launch with the fault leaves: megabytes of
// memory, what it printed, what it allocated and freed, and the error that it ended with.
//@ trials: --model predicate --trials 16 --verdict program => program.sdc>2 program.due>2 outcomes.hang>0
//@ trials: --model store-data --trials 6 --verdict program => program.sdc=6
#include "common.h"

constexpr int COUNT = 3 << 20, APART = COUNT / 64;

struct Kept {
    unsigned *allocated, *freed;
};

__global__ void prepare(Kept *kept) {
    kept->freed = (unsigned *)malloc(sizeof(unsigned));
    *kept->freed = 3;
}

__global__ void leave(unsigned *out, Kept *kept, int rounds) {
    unsigned value = threadIdx.x;
    for (int round = 0; round < rounds; round++)
        value = value * 31 + out[threadIdx.x * APART + round];
    out[threadIdx.x * APART + 1] = value;
    if (threadIdx.x == 5)
        printf("thread 5 has %u\n", value);
    if (threadIdx.x == 6) {
        unsigned *allocated = (unsigned *)malloc(2 * sizeof(unsigned));
        allocated[0] = value;
        allocated[1] = *kept->freed;
        free(kept->freed);
        kept->allocated = allocated;
    }
}

__global__ void look(const Kept *kept) {
    printf("thread 6 had %u, and found %u\n", kept->allocated[0], kept->allocated[1]);
    free(kept->allocated);
}

int main() {
    std::vector<unsigned> values(COUNT, 7);
    unsigned *out;
    Kept *kept;
    ok(cudaMalloc(&out, COUNT * sizeof(unsigned)));
    ok(cudaMemcpy(out, values.data(), COUNT * sizeof(unsigned), cudaMemcpyHostToDevice));
    ok(cudaMalloc(&kept, sizeof(Kept)));
    for (int launch = 0; launch < 2; launch++) {
        prepare<<<1, 1>>>(kept);
        leave<<<1, 64>>>(out, kept, 4);
        look<<<1, 1>>>(kept);
        ok(cudaDeviceSynchronize());
    }
    ok(cudaMemcpy(values.data(), out, COUNT * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (unsigned value : values)
        sum = sum * 33 + value;
    printf("in all %u\n", sum);
}
