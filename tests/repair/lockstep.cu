//@ exit: 0
//@ flags: --unit warp --explain
#include "../memcheck/memcheck.h"

// Sums that rely on lanes that run in lockstep, warp by warp: with --unit warp they are what lockstep makes of them.
__global__ void sums(int *data) {
    __shared__ int s[96];
    int lane = threadIdx.x % 32, *mine = s + threadIdx.x / 32 * 48;
    mine[lane] = data[threadIdx.x];
    if (lane < 16)
        mine[lane + 32] = 0;
#pragma unroll 1
    for (int distance = 16; distance > 0; distance /= 2) {
#ifdef FIXED
        __syncwarp();
        int other = mine[lane + distance];
        __syncwarp();
#else
        asm volatile("" ::: "memory"); // As if the compiler knew of lockstep.
        int other = mine[lane + distance];
#endif
        mine[lane] += other;
    }
    if (lane == 0)
        data[64] += mine[0];
}

int main() {
    int ones[64], seen, *data = device<int>(65);
    for (int &one : ones)
        one = 1;
    OK(cudaMemcpy(data, ones, sizeof ones, cudaMemcpyHostToDevice));
    sums<<<3, 64>>>(data);
    OK(cudaMemcpy(&seen, data + 64, sizeof seen, cudaMemcpyDeviceToHost));
    return seen == 3 * 64 ? finish() : 3;
}
