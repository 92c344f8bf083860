// What is put into one stream happens in that order, whatever it is.

#include "../expect.h"

__global__ void step(int *value, int expected, int *wrong) {
    if (*value != expected) *wrong += 1;
    *value = expected + 1;
}

static int calls[3], count;
static void called(void *data) { calls[count++] = *(int *)data; }

int main() {
    int *value, *wrong, host = 0, start = 41;
    OK(cudaMalloc(&value, sizeof(int)));
    OK(cudaMalloc(&wrong, sizeof(int)));
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMemsetAsync(value, 0, sizeof(int), stream));
    OK(cudaMemsetAsync(wrong, 0, sizeof(int), stream));
    for (int i = 0; i < 200; i++) step<<<1, 1, 0, stream>>>(value, i, wrong);
    int *pinned;
    OK(cudaMallocHost(&pinned, sizeof(int)));
    OK(cudaMemcpyAsync(pinned, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaLaunchHostFunc(stream, called, pinned)); // Sees what was copied before it.
    OK(cudaMemcpyAsync(value, &start, sizeof(int), cudaMemcpyHostToDevice, stream));
    step<<<1, 1, 0, stream>>>(value, 41, wrong);
    OK(cudaMemcpyAsync(pinned, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaLaunchHostFunc(stream, called, pinned));
    OK(cudaStreamSynchronize(stream));
    CHECK(count == 2 && calls[0] == 200 && calls[1] == 42);
    OK(cudaMemcpy(&host, wrong, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(host == 0);
    return done();
}
