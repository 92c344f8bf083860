// A stream that waits for an event of a captured stream is captured too, until it is joined.

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
    CHECK(cudaMemsetAsync(device, 0, 3 * sizeof(int), one));
    CHECK(cudaEventRecord(fork, one));
    CHECK(cudaStreamWaitEvent(two, fork, 0));
    set<<<1, 1, 0, one>>>(device, 30);
    set<<<1, 1, 0, two>>>(device + 1, 12);
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(two, &status));
    REQUIRE(status == cudaStreamCaptureStatusActive);
    // An event of a capture does not happen.
    EXPECT(cudaEventQuery(fork), cudaErrorCapturedEvent);
    CHECK(cudaEventRecord(join, two));
    CHECK(cudaStreamWaitEvent(one, join, 0));
    sum<<<1, 1, 0, one>>>(device + 2, device, device + 1);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaStreamIsCapturing(two, &status));
    REQUIRE(status == cudaStreamCaptureStatusNone);

    // A fill, two kernels that wait for it, and one that waits for both.
    cudaGraphNode_t from[8], to[8], root;
    size_t edges = 8, roots = 1;
    CHECK(cudaGraphGetEdges(graph, from, to, nullptr, &edges));
    CHECK(cudaGraphGetRootNodes(graph, &root, &roots));
    REQUIRE(edges == 4 && roots == 1);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(root, &type));
    REQUIRE(type == cudaGraphNodeTypeMemset);
    size_t after = 0;
    CHECK(cudaGraphNodeGetDependentNodes(root, nullptr, nullptr, &after));
    REQUIRE(after == 2);

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 50; launch++) {
        CHECK(cudaMemsetAsync(device + 2, 0xff, sizeof(int), one));
        CHECK(cudaGraphLaunch(exec, one));
        int total;
        CHECK(cudaMemcpyAsync(&total, device + 2, sizeof(total), cudaMemcpyDeviceToHost, one));
        CHECK(cudaStreamSynchronize(one));
        REQUIRE(total == 42);
    }
    printf("PASS\n");
    return 0;
}
