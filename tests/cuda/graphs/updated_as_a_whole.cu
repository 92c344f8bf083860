// An executable graph takes what another graph of the same form does, and refuses one of another form.

#include "../check.h"

__global__ void write(int *to, int value) { *to = value; }
__global__ void write_twice(int *to, int value) { *to = 2 * value; }

static cudaStream_t stream;
static int *device;

static cudaGraph_t capture(int value, bool twice, int fills) {
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < fills; i++) CHECK(cudaMemsetAsync(device, 0, sizeof(int), stream));
    if (twice)
        write_twice<<<1, 1, 0, stream>>>(device, value);
    else
        write<<<1, 1, 0, stream>>>(device, value);
    CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static int launch(cudaGraphExec_t exec) {
    int value = 0;
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaMemcpyAsync(&value, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return value;
}

int main() {
    CHECK(cudaMalloc(&device, sizeof(int)));
    CHECK(cudaStreamCreate(&stream));
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, capture(1, false, 1), 0));
    REQUIRE(launch(exec) == 1);
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, capture(5, false, 1), &info));
    REQUIRE(info.result == cudaGraphExecUpdateSuccess);
    REQUIRE(launch(exec) == 5);
    CHECK(cudaGraphExecUpdate(exec, capture(5, true, 1), &info));
    REQUIRE(launch(exec) == 10);
    EXPECT(cudaGraphExecUpdate(exec, capture(9, true, 2), &info), cudaErrorGraphExecUpdateFailure);
    REQUIRE(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT(cudaGetLastError(), cudaErrorGraphExecUpdateFailure);

    cudaGraph_t other;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    write<<<1, 1, 0, stream>>>(device, 9);
    CHECK(cudaMemsetAsync(device, 0, sizeof(int), stream));
    CHECK(cudaStreamEndCapture(stream, &other));
    EXPECT(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
    REQUIRE(info.result == cudaGraphExecUpdateErrorNodeTypeChanged && info.errorNode != nullptr);
    REQUIRE(launch(exec) == 10);
    printf("PASS\n");
    return 0;
}
