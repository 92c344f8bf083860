// The same with a pointer to memory: no error, now or later.

#include "../expect.h"
#include <thread>

__global__ void write(int *p) { *p = 1; }

int main() {
    int *good, value = 0;
    OK(cudaMalloc(&good, sizeof(int)));
    write<<<1, 1>>>(good);
    OK(cudaDeviceSynchronize());
    OK(cudaGetLastError());
    OK(cudaMemcpy(&value, good, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 1);
    std::thread([] { OK(cudaDeviceSynchronize()); }).join();
    OK(cudaFree(good));
    return done();
}
