// A graph in a graph is a copy; what waits for it waits for all of it. Copies of graphs are independent.

#include "../check.h"

__global__ void add(int *value, int amount) { *value += amount; }
__global__ void multiply(int *value, int factor) { *value *= factor; }

int main() {
    int *device, out;
    CHECK(cudaMalloc(&device, sizeof(int)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t inner, outer;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(device, 2);
    multiply<<<1, 1, 0, stream>>>(device, 10);
    CHECK(cudaStreamEndCapture(stream, &inner));

    CHECK(cudaGraphCreate(&outer, 0));
    cudaMemsetParams set = {};
    set.dst = device;
    set.value = 1;
    set.elementSize = 4;
    set.width = set.height = 1;
    cudaGraphNode_t fill, first, second, last;
    CHECK(cudaGraphAddMemsetNode(&fill, outer, nullptr, 0, &set));
    CHECK(cudaGraphAddChildGraphNode(&first, outer, &fill, 1, inner));
    CHECK(cudaGraphAddChildGraphNode(&second, outer, &first, 1, inner));
    CHECK(cudaGraphAddMemcpyNode1D(&last, outer, &second, 1, &out, device, sizeof(out), cudaMemcpyDeviceToHost));
    // (((1 + 2) * 10) + 2) * 10
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, outer, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(out == 320);

    // Other parameters for the second.
    cudaGraph_t copy;
    CHECK(cudaGraphClone(&copy, inner));
    cudaGraphNode_t nodes[2], in_copy;
    size_t count = 2;
    CHECK(cudaGraphGetNodes(inner, nodes, &count));
    CHECK(cudaGraphNodeFindInClone(&in_copy, nodes[0], copy));
    REQUIRE(in_copy != nodes[0]);
    cudaKernelNodeParams params;
    CHECK(cudaGraphKernelNodeGetParams(in_copy, &params));
    int amount = 4;
    void *args[] = {&device, &amount};
    params.kernelParams = args;
    CHECK(cudaGraphKernelNodeSetParams(in_copy, &params));
    CHECK(cudaGraphExecChildGraphNodeSetParams(exec, second, copy));
    CHECK(cudaGraphDestroy(copy));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(out == 340);

    // A launch of a graph that is captured is a graph in a graph.
    cudaGraph_t captured;
    cudaGraphNode_t node;
    cudaGraphNodeType type;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamEndCapture(stream, &captured));
    count = 1;
    CHECK(cudaGraphGetNodes(captured, &node, &count));
    CHECK(cudaGraphNodeGetType(node, &type));
    REQUIRE(type == cudaGraphNodeTypeGraph);
    cudaGraphExec_t again;
    CHECK(cudaGraphInstantiate(&again, captured, 0));
    CHECK(cudaGraphDestroy(captured));
    CHECK(cudaGraphDestroy(outer));
    out = 0;
    CHECK(cudaGraphLaunch(again, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(out == 340);
    printf("PASS\n");
    return 0;
}
