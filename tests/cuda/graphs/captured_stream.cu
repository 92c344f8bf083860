// Copies, fills, kernels and host functions of a captured stream run at each launch, and not before.

#include "../check.h"

__global__ void add(int *values, int amount) { values[threadIdx.x] += amount; }

static int calls = 0;
static void count(void *data) { *(int *)data += 1; }

int main() {
    int *device, in[32], out[32];
    for (int i = 0; i < 32; i++) in[i] = i, out[i] = -1;
    CHECK(cudaMalloc(&device, 2 * sizeof(in)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph;
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(stream, &status));
    REQUIRE(status == cudaStreamCaptureStatusNone);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamIsCapturing(stream, &status));
    REQUIRE(status == cudaStreamCaptureStatusActive);
    CHECK(cudaMemcpyAsync(device, in, sizeof(in), cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(device + 16, 0, 16 * sizeof(int), stream));
    add<<<1, 32, 0, stream>>>(device, 100);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(out, device, sizeof(out), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, count, &calls));
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    REQUIRE(nodes == 5);
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(out[0] == -1 && calls == 0);

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int launch = 1; launch <= 3; launch++) {
        // What is copied from is read at each launch.
        for (int i = 0; i < 32; i++) in[i] = launch * 1000 + i;
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        REQUIRE(calls == launch);
        for (int i = 0; i < 32; i++) REQUIRE(out[i] == (i < 16 ? launch * 1000 + i : 0) + 100);
    }
    CHECK(cudaGraphExecDestroy(exec));
    printf("PASS\n");
    return 0;
}
