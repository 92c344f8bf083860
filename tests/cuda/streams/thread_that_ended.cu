// What a thread has put into its own default stream is done although the thread has ended; so is what is in a stream or
// an executable graph that was destroyed since. A capture that the thread has not ended is in nobody's way.
//@ variants: static shared

#include "../expect.h"
#include <thread>

__global__ void add(int *p) { atomicAdd(p, 1); }

int main() {
    const int rounds = 300, launches = 3;
    int *sum;
    OK(cudaMalloc(&sum, sizeof(int)));
    OK(cudaMemset(sum, 0, sizeof(int)));
    int wanted = 0;
    auto expect_sum = [&] {
        int found = -1;
        OK(cudaDeviceSynchronize());
        OK(cudaMemcpy(&found, sum, sizeof(int), cudaMemcpyDeviceToHost));
        CHECK(found == wanted);
    };
    for (int round = 0; round < rounds; round++) {
        std::thread([=] {
            for (int i = 0; i < launches; i++) add<<<1, 1, 0, cudaStreamPerThread>>>(sum);
        }).join();
        wanted += launches;
        expect_sum();
    }

    for (int round = 0; round < rounds; round++) {
        cudaStream_t stream;
        OK(cudaStreamCreate(&stream));
        for (int i = 0; i < launches; i++) add<<<1, 1, 0, stream>>>(sum);
        OK(cudaStreamDestroy(stream));
        wanted += launches;
        expect_sum();
    }

    cudaGraph_t graph;
    OK(cudaGraphCreate(&graph, 0));
    cudaKernelNodeParams params = {};
    void *arguments[] = {&sum};
    params.func = (void *)add;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    cudaGraphNode_t root, branch;
    OK(cudaGraphAddKernelNode(&root, graph, nullptr, 0, &params));
    for (int i = 0; i < 4; i++) OK(cudaGraphAddKernelNode(&branch, graph, &root, 1, &params));
    for (int round = 0; round < rounds; round++) {
        cudaGraphExec_t executable;
        OK(cudaGraphInstantiate(&executable, graph, 0));
        std::thread([=] { OK(cudaGraphLaunch(executable, cudaStreamPerThread)); }).join();
        OK(cudaGraphExecDestroy(executable));
        wanted += 5;
        expect_sum();
    }

    std::thread([=] {
        OK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
        add<<<1, 1, 0, cudaStreamPerThread>>>(sum);
    }).join();
    // The legacy stream would wait for the one that is captured, and be refused.
    add<<<1, 1>>>(sum);
    OK(cudaGetLastError());
    wanted += 1;
    expect_sum();
    return done();
}
