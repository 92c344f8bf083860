// Conditional nodes and graphs that kernels launch are refused by name.

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) EXPECT(call, cudaSuccess)
#define EXPECT(call, wanted)                                                                              \
    do {                                                                                                  \
        cudaError_t found = (call);                                                                       \
        if (found != (wanted)) {                                                                          \
            printf("line %d: %s is %s, not %s\n", __LINE__, #call, cudaGetErrorName(found),               \
                   cudaGetErrorName(wanted));                                                             \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)
#define REQUIRE(condition)                                                                                \
    do {                                                                                                  \
        if (!(condition)) {                                                                               \
            printf("line %d: %s does not hold\n", __LINE__, #condition);                                  \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)

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
