// Branches of a graph run at the same time: two kernels that wait for each other come to their ends.

#include "../check.h"

__global__ void meet(volatile int *own, volatile int *other, int *met) {
    *own = 1;
    __threadfence();
    for (long i = 0; i < 200000000 && !*met; i++) *met = *other;
}

int main() {
    int *flags, out[4];
    CHECK(cudaMalloc(&flags, sizeof(out)));
    cudaStream_t one, two;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(flags, 0, sizeof(out), one));
    CHECK(cudaEventRecord(fork, one));
    CHECK(cudaStreamWaitEvent(two, fork, 0));
    meet<<<1, 1, 0, one>>>(flags, flags + 1, flags + 2);
    meet<<<1, 1, 0, two>>>(flags + 1, flags, flags + 3);
    CHECK(cudaEventRecord(join, two));
    CHECK(cudaStreamWaitEvent(one, join, 0));
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 3; launch++) {
        CHECK(cudaGraphLaunch(exec, one));
        CHECK(cudaStreamSynchronize(one));
        CHECK(cudaMemcpy(out, flags, sizeof(out), cudaMemcpyDeviceToHost));
        REQUIRE(out[2] == 1 && out[3] == 1);
    }
    printf("PASS\n");
    return 0;
}
