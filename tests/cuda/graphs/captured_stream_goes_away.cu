// A stream that took part in a capture and was joined may be destroyed before the capture ends.

#include "../check.h"

__global__ void set(int *value, int to) { *value = to; }
__global__ void sum(int *total, const int *a, const int *b) { *total = *a + *b; }

int main() {
    int *device;
    CHECK(cudaMalloc(&device, 3 * sizeof(int)));
    cudaStream_t one, two;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    cudaEvent_t fork, join;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));

    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, one));
    CHECK(cudaStreamWaitEvent(two, fork, 0));
    set<<<1, 1, 0, one>>>(device, 30);
    set<<<1, 1, 0, two>>>(device + 1, 12);
    CHECK(cudaEventRecord(join, two));
    CHECK(cudaStreamWaitEvent(one, join, 0));
    CHECK(cudaStreamDestroy(two));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(one, &status));
    REQUIRE(status == cudaStreamCaptureStatusActive);
    sum<<<1, 1, 0, one>>>(device + 2, device, device + 1);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(one, &graph));

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaMemset(device, 0, 3 * sizeof(int)));
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaStreamSynchronize(one));
    int total;
    CHECK(cudaMemcpy(&total, device + 2, sizeof(total), cudaMemcpyDeviceToHost));
    REQUIRE(total == 42);
    printf("PASS\n");
    return 0;
}
