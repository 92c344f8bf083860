// Events that graphs record and wait for are those of the time of a launch.

#include "../check.h"

__global__ void copy_value(int *to, const int *from) { *to = *from; }
static void pause_and_set(void *data) {
    for (volatile int i = 0; i < 20000000; i = i + 1) {
    }
    *(int *)data = 5;
}

int main() {
    int *value, *seen;
    CHECK(cudaMallocHost(&value, sizeof(int)));
    CHECK(cudaMallocHost(&seen, sizeof(int)));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));

    // A graph that sets the value slowly, between two events.
    cudaGraph_t graph, waiting;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecordWithFlags(start, one, cudaEventRecordExternal));
    CHECK(cudaLaunchHostFunc(one, pause_and_set, value));
    CHECK(cudaEventRecordWithFlags(end, one, cudaEventRecordExternal));
    CHECK(cudaStreamEndCapture(one, &graph));
    cudaGraphExec_t exec, waiting_exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));

    // A graph that waits for the second and copies the value.
    CHECK(cudaGraphCreate(&waiting, 0));
    cudaGraphNode_t wait, kernel;
    CHECK(cudaGraphAddEventWaitNode(&wait, waiting, nullptr, 0, end));
    void *args[] = {&seen, &value};
    cudaKernelNodeParams params = {};
    params.func = (void *)copy_value;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&kernel, waiting, &wait, 1, &params));
    CHECK(cudaGraphInstantiate(&waiting_exec, waiting, 0));
    cudaEvent_t event;
    CHECK(cudaGraphEventWaitNodeGetEvent(wait, &event));
    REQUIRE(event == end);

    for (int launch = 0; launch < 3; launch++) {
        *value = *seen = 0;
        CHECK(cudaGraphLaunch(exec, one));
        CHECK(cudaGraphLaunch(waiting_exec, two));
        CHECK(cudaStreamSynchronize(two));
        REQUIRE(*seen == 5);
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, start, end));
        REQUIRE(milliseconds > 1);
    }
    printf("PASS\n");
    return 0;
}
