// Events: whether they happened, the time between them, and that one stream waits for those of another.
// It uses what it has destroyed, which memcheck finds.
//@ tools: repair rmt traffic
//@ variants: static shared ptds clang

#include "../expect.h"

__global__ void wait_for(volatile int *flag) {
    while (*flag == 0) {}
}
__global__ void set(volatile int *flag, int value) { *flag = value; }
__global__ void copy(volatile int *to, volatile int *from) { *to = *from; }

int main() {
    volatile int *gate, *cells;
    OK(cudaMallocHost((void **)&gate, sizeof(int)));
    OK(cudaMallocHost((void **)&cells, 2 * sizeof(int)));
    cudaStream_t first, second;
    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    cudaEvent_t start, end, no_time, never;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    OK(cudaEventCreateWithFlags(&no_time, cudaEventDisableTiming));
    OK(cudaEventCreate(&never));

    *gate = 0, cells[0] = cells[1] = 0;
    OK(cudaEventRecord(start, first));
    OK(cudaEventSynchronize(start));
    wait_for<<<1, 1, 0, first>>>(gate);
    set<<<1, 1, 0, first>>>(cells, 7);
    OK(cudaEventRecord(end, first));
    OK(cudaEventRecord(no_time, first));
    OK(cudaStreamWaitEvent(second, no_time, 0));
    copy<<<1, 1, 0, second>>>(cells + 1, cells);

    RETURNS(cudaErrorNotReady, cudaEventQuery(end));
    OK(cudaGetLastError()); // That is no error, and CuPy relies on it.
    float milliseconds = -1;
    RETURNS(cudaErrorNotReady, cudaEventElapsedTime(&milliseconds, start, end));
    cudaGetLastError();
    OK(cudaEventQuery(never)); // One that was never recorded has happened.
    OK(cudaEventSynchronize(never));
    OK(cudaStreamWaitEvent(second, never, 0));
    CHECK(cells[1] == 0);
    *gate = 1;
    OK(cudaEventSynchronize(end));
    OK(cudaEventQuery(end));
    OK(cudaStreamSynchronize(second));
    CHECK(cells[1] == 7);

    OK(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(milliseconds > 0 && milliseconds < 60000);
    RETURNS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, never));
    RETURNS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, no_time));
    RETURNS(cudaErrorInvalidValue, cudaEventCreateWithFlags(&never, 0x77));
    OK(cudaEventDestroy(start));
    RETURNS(cudaErrorInvalidResourceHandle, cudaEventDestroy(start));
    RETURNS(cudaErrorInvalidResourceHandle, cudaEventRecord(start, first));
    // Recorded again, an event is the later one.
    *gate = 0;
    wait_for<<<1, 1, 0, first>>>(gate);
    OK(cudaEventRecord(end, first));
    RETURNS(cudaErrorNotReady, cudaEventQuery(end));
    *gate = 1;
    OK(cudaEventSynchronize(end));
    OK(cudaDeviceSynchronize());
    return done();
}
