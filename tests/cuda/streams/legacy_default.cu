// The legacy default stream waits for blocking streams and they for it; a non-blocking one does neither.

#include "../expect.h"

__global__ void wait_for(volatile int *flag) {
    while (*flag == 0) {}
}
__global__ void set(volatile int *flag) { *flag = 1; }

int main() {
    volatile int *gate, *ran;
    OK(cudaMallocHost((void **)&gate, sizeof(int)));
    OK(cudaMallocHost((void **)&ran, 3 * sizeof(int)));
    cudaStream_t blocking, free_stream;
    OK(cudaStreamCreate(&blocking));
    OK(cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking));

    // The default stream after a blocking one.
    *gate = 0, ran[0] = 0;
    wait_for<<<1, 1, 0, blocking>>>(gate);
    set<<<1, 1>>>(ran);
    set<<<1, 1, 0, free_stream>>>(ran + 1);
    OK(cudaStreamSynchronize(free_stream)); // Does not wait for the others.
    CHECK(ran[1] == 1);
    CHECK(ran[0] == 0);
    RETURNS(cudaErrorNotReady, cudaStreamQuery(nullptr));
    *gate = 1;
    OK(cudaStreamSynchronize(nullptr));
    CHECK(ran[0] == 1);

    // A blocking stream after the default one.
    *gate = 0, ran[0] = ran[1] = 0;
    wait_for<<<1, 1>>>(gate);
    set<<<1, 1, 0, blocking>>>(ran);
    set<<<1, 1, 0, free_stream>>>(ran + 1);
    OK(cudaStreamSynchronize(free_stream));
    CHECK(ran[1] == 1);
    CHECK(ran[0] == 0);
    RETURNS(cudaErrorNotReady, cudaStreamQuery(blocking));
    *gate = 1;
    OK(cudaStreamSynchronize(blocking));
    CHECK(ran[0] == 1);
    OK(cudaDeviceSynchronize());
    return done();
}
