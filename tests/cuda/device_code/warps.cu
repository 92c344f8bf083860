// Shuffles, votes, matches and reductions of a warp, also with some of its threads only.
//@ variants: static shared sm_90 G

#include "../expect.h"

__global__ void all_lanes(int *out) {
    unsigned lane = threadIdx.x % 32;
    int *mine = out + threadIdx.x * 12;
    mine[0] = __shfl_sync(~0u, (int)lane * 2, 5);
    mine[1] = __shfl_up_sync(~0u, (int)lane, 3);
    mine[2] = __shfl_down_sync(~0u, (int)lane, 4);
    mine[3] = __shfl_xor_sync(~0u, (int)lane, 1);
    mine[4] = __shfl_sync(~0u, (int)lane, 3, 8);
    mine[5] = (int)__ballot_sync(~0u, lane % 3 == 0);
    mine[6] = __all_sync(~0u, lane < 32);
    mine[7] = __any_sync(~0u, lane == 31) + 2 * __all_sync(~0u, lane < 31);
    mine[8] = (int)__match_any_sync(~0u, lane / 4);
    int same = 0;
    mine[9] = (int)__match_all_sync(~0u, 7, &same) + same;
    double wide = __shfl_xor_sync(~0u, lane + 0.5, 31);
    mine[10] = (int)(wide * 2);
    mine[11] = (int)__activemask();
}

__global__ void some_lanes(int *out) {
    unsigned lane = threadIdx.x;
    out[lane] = -1;
    if (lane % 2) {
        out[lane] = __shfl_sync(0xaaaaaaaa, (int)lane, 31) + __popc(__ballot_sync(0xaaaaaaaa, lane > 16));
    } else if (lane < 8) {
        out[lane] = (int)__ballot_sync(0x55, true);
    }
}

__global__ void reductions(unsigned *out) {
#if __CUDA_ARCH__ >= 800
    unsigned lane = threadIdx.x;
    unsigned sum = __reduce_add_sync(~0u, lane), least = __reduce_min_sync(~0u, lane + 5), most = __reduce_max_sync(~0u, lane);
    unsigned both = __reduce_and_sync(~0u, lane | 32), any = __reduce_or_sync(~0u, lane), odd = __reduce_xor_sync(~0u, lane == 3);
    if (lane == 9) out[0] = sum, out[1] = least, out[2] = most, out[3] = both, out[4] = any, out[5] = odd;
#endif
}

int main() {
    static int host[64 * 12];
    int *out;
    OK(cudaMalloc(&out, sizeof host));
    all_lanes<<<1, 64>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int thread = 0; thread < 64; thread++) {
        int lane = thread % 32, *mine = host + thread * 12;
        CHECK(mine[0] == 10);
        CHECK(mine[1] == (lane < 3 ? lane : lane - 3));
        CHECK(mine[2] == (lane > 27 ? lane : lane + 4));
        CHECK(mine[3] == (lane ^ 1));
        CHECK(mine[4] == lane / 8 * 8 + 3);
        CHECK(mine[5] == 0x49249249);
        CHECK(mine[6] == 1 && mine[7] == 1);
        CHECK(mine[8] == (int)(0xfu << lane / 4 * 4));
        CHECK(mine[9] == 0); // All lanes, and one more.
        CHECK(mine[10] == (31 - lane) * 2 + 1);
        CHECK(mine[11] == -1);
    }
    some_lanes<<<1, 32>>>(out);
    OK(cudaMemcpy(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int lane = 0; lane < 32; lane++) CHECK(host[lane] == (lane % 2 ? 31 + 8 : lane < 8 ? 0x55 : -1));
    reductions<<<1, 32>>>((unsigned *)out);
    OK(cudaMemcpy(host, out, 6 * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(host[0] == 496 && host[1] == 5 && host[2] == 31 && host[3] == 32 && host[4] == 31 && host[5] == 1);
    return done();
}
