// A counter that warps increment without atomics ends as the schedule has it: in 8 schedules, with at least two values.
//@ run: --schedule random --preempt
//@ seeds: 8
//@ outcomes: 2
//@ bugs: races

#include "../expect.h"

__global__ void count(volatile int *counter) {
    if (threadIdx.x % 32 == 0) {
        for (int i = 0; i < 4; i++) {
            *counter = *counter + 1;
        }
    }
}

int main() {
    int *counter, value = -1;
    OK(cudaMalloc(&counter, sizeof(int)));
    OK(cudaMemset(counter, 0, sizeof(int)));
    count<<<2, 128>>>(counter);
    OK(cudaMemcpy(&value, counter, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(value >= 1 && value <= 32);
    printf("%d\n", value);
    return failed_checks == 0 ? 0 : 1;
}
