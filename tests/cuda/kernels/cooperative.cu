// All blocks of a cooperative launch wait for each other, in several rounds; more than fit at once are refused.
//@ variants: static shared sm_75 sm_90 rdc clang

#include "../expect.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each round, every block adds what its neighbour had in the round before.
__global__ void rounds(int *cells, int n) {
    cg::grid_group grid = cg::this_grid();
    int *from = cells, *to = cells + gridDim.x;
    for (int round = 0; round < n; round++) {
        if (threadIdx.x == 0) to[blockIdx.x] = from[blockIdx.x] + from[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
        int *other = from;
        from = to;
        to = other;
    }
}

int main() {
    int blocks = 0, multiprocessors = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 64, 0));
    OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    const int most = blocks * multiprocessors;

    int n = 10, *cells;
    OK(cudaMalloc(&cells, 2 * most * sizeof(int)));
    for (int grid : {1, 2, 8, most < 64 ? most : 64}) {
        int *host = new int[2 * grid], *expected = new int[2 * grid];
        for (int i = 0; i < 2 * grid; i++) host[i] = expected[i] = i % grid;
        int *from = expected, *to = expected + grid;
        for (int round = 0; round < n; round++) {
            for (int i = 0; i < grid; i++) to[i] = from[i] + from[(i + 1) % grid];
            std::swap(from, to);
        }
        OK(cudaMemcpy(cells, host, 2 * grid * sizeof(int), cudaMemcpyHostToDevice));
        void *args[] = {&cells, &n};
        OK(cudaLaunchCooperativeKernel(rounds, dim3(grid), dim3(64), args, 0, nullptr));
        OK(cudaMemcpy(host, cells, 2 * grid * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < 2 * grid; i++) CHECK(host[i] == expected[i]);
        delete[] host;
        delete[] expected;
    }

    void *args[] = {&cells, &n};
    RETURNS(cudaErrorCooperativeLaunchTooLarge, cudaLaunchCooperativeKernel(rounds, dim3(most + 1), dim3(64), args, 0, nullptr));
    RETURNS(cudaErrorCooperativeLaunchTooLarge, cudaGetLastError());
    n = 0;
    OK(cudaLaunchCooperativeKernel(rounds, dim3(most), dim3(64), args, 0, nullptr));
    OK(cudaDeviceSynchronize());
    return done();
}
