#include "../memcheck/memcheck.h"
#include <ctime>

// Kernels of two streams on one array. Which elements they use depends on the data.
__global__ void write(int *data, const int *index) { data[index[threadIdx.x] + threadIdx.x] = threadIdx.x + blockDim.x; }

__global__ void read(const int *data, const int *index, int *out) {
    out[threadIdx.x] = data[index[threadIdx.x] + threadIdx.x]; //~ ERROR data-race
}

__global__ void add(int *data, const int *index) { atomicAdd(data + index[threadIdx.x], 1); }

__global__ void clear(int *data, const int *index) { data[index[threadIdx.x]] = 5; } //~ ERROR data-race

// The same with lines of their own, for streams that wait for an event, or for each other through the default stream.
__global__ void before_event(int *data, const int *index) { data[index[threadIdx.x] + threadIdx.x] = 1; }

__global__ void after_event(int *data, const int *index) { data[index[threadIdx.x] + threadIdx.x] += 2; } //~ ERROR data-race

__global__ void in_blocking_stream(int *data, const int *index) { data[index[threadIdx.x] + threadIdx.x] = 1; }

__global__ void in_default_stream(int *data, const int *index) { data[index[threadIdx.x] + threadIdx.x] += 2; } //~ ERROR data-race

__global__ void awaited(int *data, const int *index) { data[index[threadIdx.x] + threadIdx.x] = 1; }

__global__ void in_third_stream(int *data, const int *index) { data[index[threadIdx.x] + threadIdx.x] += 2; } //~ ERROR data-race

__global__ void in_graph(int *data, const int *index, int value) { data[index[threadIdx.x] + threadIdx.x] = value; } //~ ERROR data-race

// Lets the kernels that were launched end. The program does not know that they have.
static void pause_for_a_while() {
    struct timespec moment = {0, 300000000};
    nanosleep(&moment, nullptr);
}

int main() {
    cudaStream_t a, b, third, blocking;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&blocking));
    cudaStream_t other = WRONG_OR_RIGHT(b, a);
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    const int *index = device<int>(64);
    int *data = device<int>(64), *sums = device<int>(64), *fields = device<int>(64), *cells = device<int>(64);
    int *parts = device<int>(64), *nodes = device<int>(64), *out = device<int>(64);
    int *nothing = device<int>(64);

    // What is launched for the first time takes long.
    write<<<1, 64>>>(nothing, index);
    read<<<1, 64>>>(nothing, index, out);
    add<<<1, 64>>>(nothing, index);
    clear<<<1, 1>>>(nothing, index);
    before_event<<<1, 64>>>(nothing, index);
    after_event<<<1, 64>>>(nothing, index);
    in_blocking_stream<<<1, 64>>>(nothing, index);
    in_default_stream<<<1, 64>>>(nothing, index);
    awaited<<<1, 64>>>(nothing, index);
    in_third_stream<<<1, 64>>>(nothing, index);
    in_graph<<<1, 64>>>(nothing, index, 0);
    OK(cudaDeviceSynchronize());

    // A write and a read.
    write<<<1, 64, 0, a>>>(data, index);
    pause_for_a_while();
    read<<<1, 64, 0, other>>>(data, index, out);

    // Atomics of two streams are fine, a plain write is not.
    pause_for_a_while();
    add<<<1, 64, 0, a>>>(sums, index);
    pause_for_a_while();
    add<<<1, 64, 0, b>>>(sums, index);
    if (WRONG_OR_RIGHT(false, true)) OK(cudaStreamSynchronize(b));
    pause_for_a_while();
    clear<<<1, 1, 0, a>>>(sums, index);

    // The event is recorded before the kernel instead of after it.
    if (WRONG_OR_RIGHT(true, false)) OK(cudaEventRecord(event, a));
    before_event<<<1, 64, 0, a>>>(fields, index);
    if (WRONG_OR_RIGHT(false, true)) OK(cudaEventRecord(event, a));
    OK(cudaStreamWaitEvent(b, event, 0));
    pause_for_a_while();
    after_event<<<1, 64, 0, b>>>(fields, index);

    // The default stream does not wait for streams that do not block.
    in_blocking_stream<<<1, 64, 0, WRONG_OR_RIGHT(a, blocking)>>>(cells, index);
    pause_for_a_while();
    in_default_stream<<<1, 64>>>(cells, index);
    OK(cudaDeviceSynchronize());

    // Another stream waits for the event, and does not tell.
    awaited<<<1, 64, 0, a>>>(parts, index);
    OK(cudaEventRecord(event, a));
    OK(cudaStreamWaitEvent(WRONG_OR_RIGHT(b, third), event, 0));
    write<<<1, 64, 0, b>>>(nothing, index);
    pause_for_a_while();
    in_third_stream<<<1, 64, 0, third>>>(parts, index);
    OK(cudaDeviceSynchronize());

    // Two branches of a graph.
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(event, a));
    OK(cudaStreamWaitEvent(b, event, 0));
    // In one line: either may come first.
    in_graph<<<1, 64, 0, a>>>(nodes, index, 1), in_graph<<<1, 64, 0, other>>>(nodes, index, 2);
    OK(cudaEventRecord(event, b));
    OK(cudaStreamWaitEvent(a, event, 0));
    OK(cudaStreamEndCapture(a, &graph));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, a));
    return finish();
}
