//@ exit: 0
#include "../memcheck/memcheck.h"
#include <ctime>

// What streams, events, graphs and waits of the host order is not unordered, also if it has ended long before it is relied on.
// Each kernel is named after the case and its place in it; only pairs of one case are expected.
template <int CASE, int PLACE> __global__ void kernel() {}

static void wait_for_work() { cudaDeviceSynchronize(); }

int main() {
    cudaStream_t a, b, blocking;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaStreamCreate(&blocking);
    cudaEvent_t event;
    cudaEventCreate(&event);

    // One stream: in order.
    kernel<1, 1><<<1, 1, 0, a>>>();
    kernel<1, 2><<<1, 1, 0, a>>>();
    wait_for_work();

    // Two streams: unordered.
    kernel<2, 1><<<1, 1, 0, a>>>();
    kernel<2, 2><<<1, 1, 0, b>>>();
    wait_for_work();

    // The same after an event, also one that has happened: in order.
    kernel<3, 1><<<1, 1, 0, a>>>();
    cudaEventRecord(event, a);
    while (cudaStreamQuery(b) != cudaSuccess) {}
    struct timespec moment = {0, 50000000};
    nanosleep(&moment, nullptr);
    cudaStreamWaitEvent(b, event, 0);
    kernel<3, 2><<<1, 1, 0, b>>>();
    // And one that came after the event is unordered.
    kernel<3, 3><<<1, 1, 0, a>>>();
    wait_for_work();

    // The default stream waits for a blocking stream, and the other way round, but not for others.
    kernel<4, 1><<<1, 1, 0, blocking>>>();
    kernel<4, 2><<<1, 1, 0, a>>>();
    kernel<4, 3><<<1, 1>>>();
    kernel<4, 4><<<1, 1, 0, blocking>>>();
    wait_for_work();

    // The host waits for one of two streams, then asks for more.
    kernel<5, 1><<<1, 1, 0, a>>>();
    kernel<5, 2><<<1, 1, 0, b>>>();
    cudaStreamSynchronize(a);
    kernel<5, 3><<<1, 1, 0, blocking>>>();
    wait_for_work();

    // Branches of a graph, after its root; and what follows in the stream comes after all of them.
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed);
    kernel<6, 1><<<1, 1, 0, a>>>();
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    kernel<6, 2><<<1, 1, 0, a>>>();
    kernel<6, 3><<<1, 1, 0, b>>>();
    cudaEventRecord(event, b);
    cudaStreamWaitEvent(a, event, 0);
    kernel<6, 4><<<1, 1, 0, a>>>();
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, a);
    kernel<6, 5><<<1, 1, 0, a>>>();
    wait_for_work();

    // A stream that is destroyed, and others that are made: the default stream still comes after it.
    kernel<7, 1><<<1, 1, 0, blocking>>>();
    nanosleep(&moment, nullptr);
    cudaStreamDestroy(blocking);
    for (int i = 0; i < 3; ++i) cudaStreamCreate(&blocking);
    kernel<7, 2><<<1, 1>>>();
    wait_for_work();

    // A function of the host that a stream calls, which lets the host go on.
    static volatile bool is_called = false;
    kernel<8, 1><<<1, 1, 0, a>>>();
    cudaLaunchHostFunc(a, [](void *) { is_called = true; }, nullptr);
    while (!is_called) {}
    kernel<8, 2><<<1, 1, 0, b>>>();
    wait_for_work();
    return finish();
}
