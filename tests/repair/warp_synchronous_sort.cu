//@ exit: 87
#include "../memcheck/memcheck.h"

#ifdef FIXED
#define MEET __syncwarp()
#else
#define MEET asm volatile("" ::: "memory") // As if the compiler knew of lockstep.
#endif

// Lanes that sort in lockstep write places that later ones have read, and others that none writes so late: these tell that they
// rely on it. It is left as it is; with __syncwarp it has a serial order.
__global__ void sort(int *data) {
    __shared__ int keys[32], values[32];
    int lane = threadIdx.x, rank = 0;
    keys[lane] = data[lane] % 64;
    values[lane] = data[lane];
    MEET;
    for (int i = 0; i < 32; ++i)
        rank += keys[i] < keys[lane]; //~ ERROR relies-on-warp-synchrony
    int value = values[lane];
    MEET;
    values[rank] = value; //~ ERROR conflict
    MEET;
    data[lane] = values[lane]; //~ ERROR relies-on-warp-synchrony
}

int main() {
    int seen[32], *data = device<int>(32);
    for (int i = 0; i < 32; ++i)
        seen[i] = 64 + i * 11 % 32;
    OK(cudaMemcpy(data, seen, sizeof seen, cudaMemcpyHostToDevice));
    sort<<<1, 32>>>(data);
    OK(cudaMemcpy(seen, data, sizeof seen, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i)
        if (seen[i] != 64 + i)
            return 3;
    return finish();
}
