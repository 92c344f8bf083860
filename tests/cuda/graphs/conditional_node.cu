// Conditional nodes and graphs that kernels launch are refused by name.
//@ stderr: graphs with conditional nodes are not supported

#include "../check.h"

int main() {
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle;
    EXPECT(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault), cudaErrorNotSupported);
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    cudaGraphNode_t node;
    EXPECT(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), cudaErrorNotSupported);
    CHECK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    cudaGraphExec_t exec;
    EXPECT(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch), cudaErrorNotSupported);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    printf("PASS\n");
    return 0;
}
