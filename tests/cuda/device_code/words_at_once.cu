// 16 bytes that a block writes with one ordered access are never seen half by another block.

#include "../check.h"

struct alignas(16) Pair {
    unsigned long long first, second;
};

__global__ void write_and_read(Pair *pair, volatile int *is_done, unsigned long long *torn, int rounds) {
    if (blockIdx.x == 0) {
        for (unsigned long long round = 1; round <= rounds; round++) {
            asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %1};" ::"l"(pair), "l"(round) : "memory");
        }
        *is_done = 1;
        return;
    }
    // Each lane by itself, so that there are lanes that read other places at the same time.
    Pair *mine = pair + threadIdx.x % 2;
    unsigned long long first, second, seen = 0;
    while (!*is_done) {
        asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(first), "=l"(second) : "l"(mine) : "memory");
        seen += first != second;
    }
    atomicAdd(torn, seen);
}

int main() {
    Pair *pair;
    int *is_done;
    unsigned long long *torn;
    CHECK(cudaMallocManaged(&pair, 2 * sizeof(Pair)));
    CHECK(cudaMallocManaged(&is_done, sizeof(*is_done)));
    CHECK(cudaMallocManaged(&torn, sizeof(*torn)));
    pair[0] = pair[1] = {};
    *is_done = 0;
    *torn = 0;
    write_and_read<<<2, 4>>>(pair, is_done, torn, 2000000);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(*torn == 0);
    printf("PASS\n");
    return 0;
}
