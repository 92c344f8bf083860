// A program asks what the next node of a captured stream waits for, adds nodes itself, and changes it.

#include "../check.h"

__global__ void append(int *list, int value) { list[atomicAdd(list, 1) + 1] = value; }

int main() {
    int *list, out[8];
    CHECK(cudaMalloc(&list, sizeof(out)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(list, 0, sizeof(out), stream));
    append<<<1, 1, 0, stream>>>(list, 1);

    cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    cudaGraph_t graph, ended;
    const cudaGraphNode_t *last;
    const cudaGraphEdgeData *edges;
    size_t count = 0;
    CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &last, &edges, &count));
    REQUIRE(status == cudaStreamCaptureStatusActive && id != 0 && count == 1 && edges[0].type == 0);
    int value = 2;
    void *args[] = {&list, &value};
    cudaKernelNodeParams params = {};
    params.func = (void *)append;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = args;
    cudaGraphNode_t added;
    CHECK(cudaGraphAddKernelNode(&added, graph, last, count, &params));
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &added, nullptr, 1, cudaStreamSetCaptureDependencies));
    append<<<1, 1, 0, stream>>>(list, 3);
    CHECK(cudaStreamEndCapture(stream, &ended));
    REQUIRE(ended == graph);

    // More work for the same graph, after its last node.
    cudaGraphNode_t nodes[8];
    count = 8;
    CHECK(cudaGraphGetNodes(graph, nodes, &count));
    REQUIRE(count == 4);
    CHECK(cudaStreamBeginCaptureToGraph(stream, graph, &nodes[3], nullptr, 1, cudaStreamCaptureModeGlobal));
    append<<<1, 1, 0, stream>>>(list, 4);
    CHECK(cudaStreamEndCapture(stream, &ended));
    REQUIRE(ended == graph);

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(out, list, sizeof(out), cudaMemcpyDeviceToHost));
    REQUIRE(out[0] == 4 && out[1] == 1 && out[2] == 2 && out[3] == 3 && out[4] == 4);
    printf("PASS\n");
    return 0;
}
