// What a launch costs on the host: prints nanoseconds of each of some rounds, for launches that are waited for one by one, and for
// some that are waited for together.
//
//     launches LAUNCHES ROUNDS
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void store(int *out, int value) {
    if (threadIdx.x == 0)
        *out = value;
}

static double nanoseconds(int *out, int launches, bool each) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; i++) {
        store<<<1, 32>>>(out, i);
        if (each)
            cudaDeviceSynchronize();
    }
    cudaDeviceSynchronize();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / launches;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: launches LAUNCHES ROUNDS\n");
        return 2;
    }
    int launches = atoi(arguments[1]), rounds = atoi(arguments[2]);
    int *out;
    cudaMalloc(&out, sizeof(int));
    nanoseconds(out, launches, true);
    for (int way = 0; way < 2; way++) {
        printf(way == 0 ? "each" : "together");
        for (int round = 0; round < rounds; round++)
            printf(" %.0f", nanoseconds(out, launches, way == 0));
        printf("\n");
    }
    int last = -1;
    cudaMemcpy(&last, out, sizeof(int), cudaMemcpyDeviceToHost);
    return last == launches - 1 && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
