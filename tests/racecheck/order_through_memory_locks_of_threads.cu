#include "../memcheck/memcheck.h"

// A lock that each lane takes in its turn: the loop ends by a flag.
__global__ void count(int *lock, int *counter) {
    bool is_done = false;
    while (!is_done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            if (WRONG_OR_RIGHT(false, true)) __threadfence();
            counter[0] = counter[0] + 1; //~ ERROR data-race
            __threadfence();
            atomicExch(lock, 0);
            is_done = true;
        }
    }
}

int main() {
    count<<<WRONG_OR_RIGHT(16, 2), WRONG_OR_RIGHT(1, 8)>>>(device<int>(1), device<int>(1));
    return finish();
}
