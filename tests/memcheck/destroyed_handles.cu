#include "memcheck.h"

// Streams, events, graphs and textures that are used, or destroyed, after they were destroyed.
__global__ void nothing() {} //~ ERROR destroyed-handle

int main() {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    #ifndef FIXED
    OK(cudaStreamDestroy(stream));
    #endif
    nothing<<<1, 1, 0, stream>>>();
    cudaStreamSynchronize(stream); //~ ERROR destroyed-handle
    cudaStreamDestroy(stream); //~ ERROR destroyed-handle

    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    #ifndef FIXED
    OK(cudaEventDestroy(event));
    #endif
    cudaEventRecord(event); //~ ERROR destroyed-handle
    cudaEventSynchronize(event); //~ ERROR destroyed-handle

    cudaGraph_t graph;
    cudaGraphExec_t executable;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    #ifndef FIXED
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphExecDestroy(executable));
    #endif
    cudaGraphLaunch(executable, 0); //~ ERROR destroyed-handle
    cudaGraphNode_t node;
    cudaGraphAddEmptyNode(&node, graph, nullptr, 0); //~ ERROR destroyed-handle

    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device<float>(64);
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 256;
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    #ifndef FIXED
    OK(cudaDestroyTextureObject(texture));
    #endif
    cudaDestroyTextureObject(texture); //~ ERROR destroyed-handle
    cudaGetLastError();
    return finish();
}
