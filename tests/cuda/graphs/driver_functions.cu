// Graphs by the functions of the driver, in the versions of CUDA 11 and 12.

#include "../check.h"

#include <cuda.h>
#include <cstring>

static void *find(const char *name, unsigned version) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointSuccess);
    return function;
}
#define CALL(call) REQUIRE((call) == CUDA_SUCCESS)

__global__ void add(int *value, int amount) { *value += amount; }

int main() {
    int *device, out = 0;
    CHECK(cudaMalloc(&device, sizeof(int)));
    cudaFunction_t function;
    CHECK(cudaGetFuncBySymbol(&function, (const void *)add));
    auto create = (CUresult(*)(CUgraph *, unsigned))find("cuGraphCreate", 11000);
    auto add_fill = (CUresult(*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *,
                                 CUcontext))find("cuGraphAddMemsetNode", 11000);
    auto add_kernel = (CUresult(*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
                                   const CUDA_KERNEL_NODE_PARAMS_v1 *))find("cuGraphAddKernelNode", 11000);
    auto add_node = (CUresult(*)(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
                                 CUgraphNodeParams *))find("cuGraphAddNode", 12030);
    auto instantiate_11 = (CUresult(*)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t))find("cuGraphInstantiate", 11000);
    auto instantiate_12 = (CUresult(*)(CUgraphExec *, CUgraph, unsigned long long))find("cuGraphInstantiate", 12000);
    auto instantiate_with = (CUresult(*)(CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *))find("cuGraphInstantiateWithParams", 12000);
    auto get_kernel = (CUresult(*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *))find("cuGraphKernelNodeGetParams", 12000);
    auto set_kernel = (CUresult(*)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *))find("cuGraphExecKernelNodeSetParams", 12000);
    auto launch = (CUresult(*)(CUgraphExec, CUstream))find("cuGraphLaunch", 11000);

    CUgraph graph;
    CUgraphNode fill, kernel, copy;
    CALL(create(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS set = {};
    set.dst = (CUdeviceptr)device;
    set.value = 10;
    set.elementSize = 4;
    set.width = set.height = 1;
    CALL(add_fill(&fill, graph, nullptr, 0, &set, nullptr));
    int amount = 5;
    void *args[] = {&device, &amount};
    CUDA_KERNEL_NODE_PARAMS_v1 params = {};
    params.func = (CUfunction)function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = args;
    CALL(add_kernel(&kernel, graph, &fill, 1, &params));
    CUgraphNodeParams any = {};
    any.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    any.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    any.memcpy.copyParams.srcDevice = (CUdeviceptr)device;
    any.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST;
    any.memcpy.copyParams.dstHost = &out;
    any.memcpy.copyParams.WidthInBytes = sizeof(int);
    any.memcpy.copyParams.Height = any.memcpy.copyParams.Depth = 1;
    CALL(add_node(&copy, graph, &kernel, nullptr, 1, &any));

    CUgraphExec exec;
    char log[64] = "?";
    CUgraphNode wrong = fill;
    CALL(instantiate_11(&exec, graph, &wrong, log, sizeof(log)));
    REQUIRE(wrong == nullptr && strlen(log) == 0);
    CALL(launch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(out == 15);
    CALL(instantiate_12(&exec, graph, 0));
    CUDA_KERNEL_NODE_PARAMS read;
    CALL(get_kernel(kernel, &read));
    REQUIRE(*(int *)read.kernelParams[1] == 5);
    amount = 7;
    read.kernelParams = args;
    CALL(set_kernel(exec, kernel, &read));
    CALL(launch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(out == 17);
    CUDA_GRAPH_INSTANTIATE_PARAMS with = {};
    with.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    CALL(instantiate_with(&exec, graph, &with));
    REQUIRE(with.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
    printf("PASS\n");
    return 0;
}
