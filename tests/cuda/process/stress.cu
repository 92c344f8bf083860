// 64 threads with 32 streams each launch, copy, allocate, record and capture at once, and streams come and go: everything that
// was asked for is done, and the process does not grow. The argument is how many seconds: 10 minutes and more by hand.
//@ args: 2
//@ variants: shared
//@ tools: no

#include "../expect.h"
#include "resident.h"
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

static const int threads = 64, streams = 32;

__global__ void add(unsigned *cell, unsigned value) { atomicAdd(cell, value); }

static std::atomic<bool> is_over(false);
static std::atomic<long> rounds(0), wrong(0);

#define GOOD(call) wrong += (call) != cudaSuccess

// All streams of a thread, once: what they were asked for is there when they are waited for.
static void round_of(cudaStream_t *mine, unsigned *cells, unsigned *host, unsigned number) {
    GOOD(cudaMemsetAsync(cells, 0, streams * sizeof *cells, mine[0]));
    cudaEvent_t ready;
    GOOD(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    GOOD(cudaEventRecord(ready, mine[0]));
    for (int i = 0; i < streams; i++) {
        GOOD(cudaStreamWaitEvent(mine[i], ready, 0));
        add<<<1, 32, 0, mine[i]>>>(cells + i, number);
        void *extra;
        GOOD(cudaMallocAsync(&extra, 4096, mine[i]));
        GOOD(cudaMemsetAsync(extra, 1, 4096, mine[i]));
        GOOD(cudaFreeAsync(extra, mine[i]));
        GOOD(cudaMemcpyAsync(host + i, cells + i, sizeof *host, cudaMemcpyDeviceToHost, mine[i]));
    }
    GOOD(cudaGetLastError());
    GOOD(cudaEventDestroy(ready));
    for (int i = 0; i < streams; i++) {
        GOOD(cudaStreamSynchronize(mine[i]));
        wrong += host[i] != 32 * number;
    }
}

static void captured(cudaStream_t stream, unsigned *cell) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add<<<1, 32, 0, stream>>>(cell, 1);
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphInstantiate(&executable, graph, 0));
    GOOD(cudaGraphLaunch(executable, stream));
    GOOD(cudaGraphExecDestroy(executable));
    GOOD(cudaGraphDestroy(graph));
}

static void work(unsigned seed) {
    cudaStream_t mine[streams];
    unsigned *cells, *host;
    GOOD(cudaMalloc(&cells, streams * sizeof *cells));
    GOOD(cudaMallocHost(&host, streams * sizeof *host));
    for (cudaStream_t &stream : mine) GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (unsigned i = 0; !is_over; i++) {
        round_of(mine, cells, host, seed + i % 100 + 1);
        cudaStream_t &stream = mine[i % streams];
        captured(stream, cells);
        // It is destroyed while it still has work, which is done all the same. Nobody may wait for the whole device: some
        // thread captures.
        cudaEvent_t last;
        GOOD(cudaEventCreateWithFlags(&last, cudaEventDisableTiming));
        GOOD(cudaEventRecord(last, stream));
        GOOD(cudaStreamDestroy(stream));
        GOOD(cudaEventSynchronize(last));
        GOOD(cudaEventDestroy(last));
        GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        rounds++;
    }
    for (cudaStream_t stream : mine) GOOD(cudaStreamDestroy(stream));
    GOOD(cudaFree(cells));
    GOOD(cudaFreeHost(host));
}

int main(int, char **arguments) {
    int seconds = arguments[1] ? atoi(arguments[1]) : 10;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; i++) all.emplace_back(work, i);
    // Then all streams have been used, and stacks and buffers are there.
    while (rounds < 4 * threads) usleep(10000);
    long before = resident_kilobytes(), most = before;
    for (int i = 0; i < 10; i++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(seconds * 1000) / 10);
        most = std::max(most, resident_kilobytes());
    }
    is_over = true;
    for (std::thread &thread : all) thread.join();
    CHECK(wrong == 0);
    CHECK(rounds > 0);
    CHECK(most < before + 64 * 1024);
    if (seconds > 2) printf("%ld rounds of %d streams, %ld kB, at most %ld kB\n", rounds.load(), streams, before, most);
    return done();
}
