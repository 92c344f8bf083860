// Asynchronous copies: memory that is not pinned may be changed right after the call, and pinned memory is read later.

#include "../expect.h"
#include <atomic>

__global__ void wait_for(volatile int *flag) {
    while (*flag == 0) {}
}

int main() {
    const int n = 100000;
    int *device, *result, *pinned, *flag;
    int *plain = new int[n];
    OK(cudaMalloc(&device, n * sizeof(int)));
    OK(cudaMalloc(&result, n * sizeof(int)));
    OK(cudaMallocHost(&pinned, n * sizeof(int)));
    OK(cudaMallocHost(&flag, sizeof(int)));
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    *flag = 0;
    for (int i = 0; i < n; i++) plain[i] = i, pinned[i] = i;
    wait_for<<<1, 1, 0, stream>>>(flag);
    OK(cudaMemcpyAsync(device, plain, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < n; i++) plain[i] = -1;
    OK(cudaMemcpyAsync(result, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    pinned[n - 1] = 12345; // Too early: the copy waits for the kernel, and sees this.
    RETURNS(cudaErrorNotReady, cudaStreamQuery(stream));
    *(volatile int *)flag = 1;
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamQuery(stream));

    OK(cudaMemcpyAsync(plain, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaMemcpyAsync(pinned, result, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += plain[i] != i;
    CHECK(wrong == 0);
    CHECK(pinned[n - 1] == 12345 && pinned[n - 2] == n - 2);
    return done();
}
