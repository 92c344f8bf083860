#include "../memcheck/memcheck.h"

// Each launch alone is proved to be free of races. Two streams run them at the same time.
__global__ void fill(int *data, int value) { data[threadIdx.x] = value + threadIdx.x; } //~ ERROR data-race

int main() {
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams)
        OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int *data = device<int>(64);
    for (int i = 0; i < 2; i++)
        fill<<<1, 64, 0, streams[WRONG_OR_RIGHT(i, 0)]>>>(data, 64 * i);
    return finish();
}
