// Nodes and edges that a program adds one by one, their parameters, and changes to them.

#include "../check.h"

__global__ void scale(int *values, int factor) { values[threadIdx.x] *= factor; }
static int calls = 0;
static void count(void *data) { *(int *)data += 1; }
__device__ int symbol;

int main() {
    int *device, in[8], out[8], from_symbol = 0;
    CHECK(cudaMalloc(&device, sizeof(in)));
    for (int i = 0; i < 8; i++) in[i] = i;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t copy_in, kernel, copy_out, host, fill, to_symbol, empty;
    CHECK(cudaGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, device, in, sizeof(in), cudaMemcpyHostToDevice));
    int factor = 3;
    void *args[] = {&device, &factor};
    cudaKernelNodeParams params = {};
    params.func = (void *)scale;
    params.gridDim = dim3(1);
    params.blockDim = dim3(8);
    params.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &copy_in, 1, &params));
    factor = 1000; // Parameters are read when the node is added.
    CHECK(cudaGraphAddMemcpyNode1D(&copy_out, graph, nullptr, 0, out, device, sizeof(out), cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddDependencies(graph, &kernel, &copy_out, nullptr, 1));
    EXPECT(cudaGraphAddDependencies(graph, &kernel, &copy_out, nullptr, 1), cudaErrorInvalidValue);
    cudaHostNodeParams call = {count, &calls};
    CHECK(cudaGraphAddHostNode(&host, graph, &copy_out, 1, &call));
    cudaMemsetParams set = {};
    set.dst = device;
    set.value = 7;
    set.elementSize = 4;
    set.width = 2;
    set.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, &copy_out, 1, &set));
    int *symbol_address;
    CHECK(cudaGetSymbolAddress((void **)&symbol_address, symbol));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, graph, &fill, 1, symbol, device, sizeof(int), 0,
                                         cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphAddEmptyNode(&empty, graph, &to_symbol, 1));

    cudaKernelNodeParams read;
    CHECK(cudaGraphKernelNodeGetParams(kernel, &read));
    REQUIRE(read.func == (void *)scale && read.blockDim.x == 8 && *(int *)read.kernelParams[1] == 3);
    cudaMemsetParams read_set;
    CHECK(cudaGraphMemsetNodeGetParams(fill, &read_set));
    REQUIRE(read_set.dst == device && read_set.value == 7 && read_set.elementSize == 4 && read_set.width == 2);
    cudaMemcpy3DParms read_copy;
    CHECK(cudaGraphMemcpyNodeGetParams(copy_in, &read_copy));
    REQUIRE(read_copy.srcPtr.ptr == in && read_copy.dstPtr.ptr == device && read_copy.extent.width == sizeof(in));
    cudaHostNodeParams read_call;
    CHECK(cudaGraphHostNodeGetParams(host, &read_call));
    REQUIRE(read_call.fn == count && read_call.userData == &calls);
    EXPECT(cudaGraphKernelNodeGetParams(fill, &read), cudaErrorInvalidValue);
    cudaGraphNode_t before[4];
    size_t room = 4;
    CHECK(cudaGraphNodeGetDependencies(host, before, nullptr, &room));
    REQUIRE(room == 1 && before[0] == copy_out);
    cudaGraph_t containing;
    unsigned id, other_id, place;
    CHECK(cudaGraphNodeGetContainingGraph(kernel, &containing));
    CHECK(cudaGraphNodeGetLocalId(kernel, &place));
    REQUIRE(containing == graph && place == 1);
    CHECK(cudaGraphGetId(graph, &id));
    cudaGraph_t other;
    CHECK(cudaGraphCreate(&other, 0));
    CHECK(cudaGraphGetId(other, &other_id));
    REQUIRE(id != other_id);
    cudaGraphNode_t all[9];
    size_t nodes = 9;
    CHECK(cudaGraphGetNodes(graph, all, &nodes));
    REQUIRE(nodes == 7 && all[7] == nullptr);

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 8; i++) REQUIRE(out[i] == 3 * i);
    CHECK(cudaMemcpyFromSymbol(&from_symbol, symbol, sizeof(int)));
    REQUIRE(calls == 1 && from_symbol == 7);

    // A change to the graph is none to what was made of it.
    factor = 5;
    CHECK(cudaGraphKernelNodeSetParams(kernel, &params));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(out[1] == 3);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
    set.value = 8;
    CHECK(cudaGraphExecMemsetNodeSetParams(exec, fill, &set));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyFromSymbol(&from_symbol, symbol, sizeof(int)));
    REQUIRE(out[1] == 5 && from_symbol == 8);
    EXPECT(cudaGraphExecKernelNodeSetParams(exec, fill, &params), cudaErrorInvalidValue);
    CHECK(cudaGraphNodeSetEnabled(exec, kernel, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(out[1] == 1);

    // Nodes that wait for each other cannot run.
    CHECK(cudaGraphAddDependencies(graph, &host, &copy_in, nullptr, 1));
    cudaGraphExec_t never;
    EXPECT(cudaGraphInstantiate(&never, graph, 0), cudaErrorInvalidValue);
    CHECK(cudaGraphRemoveDependencies(graph, &host, &copy_in, nullptr, 1));
    CHECK(cudaGraphDestroyNode(host));
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    REQUIRE(nodes == 6);
    EXPECT(cudaGraphDestroyNode(host), cudaErrorInvalidResourceHandle);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    printf("PASS\n");
    return 0;
}
