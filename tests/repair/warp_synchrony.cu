//@ exit: 87
#include "../memcheck/memcheck.h"

// A sum that relies on lanes that run in lockstep is left as it is, which is said; with __syncwarp it has a serial order.
__global__ void sum(int *data) {
    __shared__ int s[64];
    int lane = threadIdx.x;
    s[lane] = data[lane];
    s[lane + 32] = 0;
#pragma unroll 1
    for (int distance = 16; distance > 0; distance /= 2) {
#ifdef FIXED
        __syncwarp();
        int other = s[lane + distance];
        __syncwarp();
#else
        asm volatile("" ::: "memory"); // As if the compiler knew of lockstep.
        int other = s[lane + distance]; //~ ERROR relies-on-warp-synchrony
#endif
        s[lane] += other;
    }
    if (lane == 0)
        data[32] = s[0];
}

int main() {
    int ones[32], seen, *data = device<int>(33);
    for (int &one : ones)
        one = 1;
    OK(cudaMemcpy(data, ones, sizeof ones, cudaMemcpyHostToDevice));
    sum<<<1, 32>>>(data);
    OK(cudaMemcpy(&seen, data + 32, sizeof seen, cudaMemcpyDeviceToHost));
    return seen == 32 ? finish() : 3;
}
