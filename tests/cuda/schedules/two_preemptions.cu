// One warp writes 1 and then 2, and another reads twice. That it sees first the one and then the other takes two preemptions
// at the right moments. Of the schedules by priorities, this is the first that makes them.
//@ run: --schedule pct --preempt --seed 49
//@ stdout: seen
//@ bugs: races

#include "../expect.h"

__global__ void race(volatile int *flag, int *seen) {
    if (threadIdx.x == 0) {
        *flag = 1;
        *flag = 2;
    } else if (threadIdx.x == 32) {
        int first = *flag;
        int second = *flag;
        *seen = first == 1 && second == 2;
    }
}

int main() {
    int *memory, seen = -1;
    OK(cudaMalloc(&memory, 2 * sizeof(int)));
    OK(cudaMemset(memory, 0, 2 * sizeof(int)));
    race<<<1, 64>>>(memory, memory + 1);
    OK(cudaMemcpy(&seen, memory + 1, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(seen == 0 || seen == 1);
    printf("%s\n", seen ? "seen" : "not seen");
    return failed_checks == 0 ? 0 : 1;
}
