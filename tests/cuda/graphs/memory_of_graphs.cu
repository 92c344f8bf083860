//@ bugs: frees and copies what is not there
// Memory that a graph allocates has one address in all launches, and is free again after each.

#include "../check.h"

__global__ void fill(int *values, int value) { values[threadIdx.x] = value + threadIdx.x; }
__global__ void total(int *to, const int *values) {
    *to = 0;
    for (int i = 0; i < 64; i++) *to += values[i];
}

static unsigned long long used() {
    unsigned long long bytes = ~0ull;
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
    return bytes;
}

int main() {
    int *result, *temporary, out;
    CHECK(cudaMalloc(&result, sizeof(int)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&temporary, 64 * sizeof(int), stream));
    fill<<<1, 64, 0, stream>>>(temporary, 1);
    total<<<1, 1, 0, stream>>>(result, temporary);
    CHECK(cudaFreeAsync(temporary, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphNode_t nodes[4];
    size_t count = 4;
    CHECK(cudaGraphGetNodes(graph, nodes, &count));
    cudaGraphNodeType first, last;
    CHECK(cudaGraphNodeGetType(nodes[0], &first));
    CHECK(cudaGraphNodeGetType(nodes[3], &last));
    REQUIRE(first == cudaGraphNodeTypeMemAlloc && last == cudaGraphNodeTypeMemFree);
    cudaMemAllocNodeParams read;
    CHECK(cudaGraphMemAllocNodeGetParams(nodes[0], &read));
    REQUIRE(read.dptr == temporary && read.bytesize == 64 * sizeof(int));
    // Nothing is allocated before a launch.
    EXPECT(cudaFree(temporary), cudaErrorInvalidValue);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 3; launch++) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(&out, result, sizeof(int), cudaMemcpyDeviceToHost));
        REQUIRE(out == 64 * 65 / 2);
        REQUIRE(used() == 0);
    }

    // Memory that outlives a launch: to be freed before the next one.
    cudaGraph_t keeping;
    CHECK(cudaGraphCreate(&keeping, 0));
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 64 * sizeof(int);
    cudaGraphNode_t allocate, kernel;
    CHECK(cudaGraphAddMemAllocNode(&allocate, keeping, nullptr, 0, &params));
    int value = 7;
    void *args[] = {&params.dptr, &value};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)fill;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(64);
    launch.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&kernel, keeping, &allocate, 1, &launch));
    cudaGraphExec_t keeps;
    CHECK(cudaGraphInstantiate(&keeps, keeping, 0));
    CHECK(cudaGraphLaunch(keeps, stream));
    REQUIRE(used() == 64 * sizeof(int));
    EXPECT(cudaGraphLaunch(keeps, stream), cudaErrorInvalidValue);
    CHECK(cudaFreeAsync(params.dptr, stream));
    CHECK(cudaGraphLaunch(keeps, stream));
    CHECK(cudaGraphExecDestroy(keeps));
    CHECK(cudaGraphDestroy(keeping));
    CHECK(cudaStreamSynchronize(stream));
    // It stays until it is freed, even without the graph.
    CHECK(cudaMemcpy(&out, (int *)params.dptr + 5, sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(out == 12);
    CHECK(cudaFree(params.dptr));
    EXPECT(cudaFree(params.dptr), cudaErrorInvalidValue);
    printf("PASS\n");
    return 0;
}
