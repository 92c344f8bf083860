// What cannot be captured is refused with the errors of the manual, and makes the capture invalid.

#include "../check.h"

#include <thread>

__global__ void nothing() {}
static void callback(cudaStream_t, cudaError_t, void *) {}

static cudaStream_t stream, other, free_stream;

static void expect_invalid() {
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(stream, &status));
    REQUIRE(status == cudaStreamCaptureStatusInvalidated);
    cudaGraph_t graph = (cudaGraph_t)1;
    EXPECT(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    REQUIRE(graph == nullptr);
    CHECK(cudaStreamIsCapturing(stream, &status));
    REQUIRE(status == cudaStreamCaptureStatusNone);
    EXPECT(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
}

int main() {
    cudaGraph_t graph;
    cudaEvent_t event, late;
    void *memory;
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventCreate(&late));

    EXPECT(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);

    // Waiting.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
    EXPECT(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    nothing<<<1, 1, 0, stream>>>();
    EXPECT(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
    expect_invalid();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    EXPECT(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    expect_invalid();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaStreamAddCallback(stream, callback, nullptr, 0), cudaErrorStreamCaptureUnsupported);
    expect_invalid();

    // The legacy stream, which would wait for the captured one. A stream that does not block is no harm.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    nothing<<<1, 1, 0, free_stream>>>();
    CHECK(cudaGetLastError());
    cudaStreamCaptureStatus status;
    EXPECT(cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaErrorStreamCaptureImplicit);
    nothing<<<1, 1>>>();
    EXPECT(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    expect_invalid();

    // What a GPU may have to wait for.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
    expect_invalid();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMalloc(&memory, 4));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    std::thread([&] { CHECK(cudaMalloc(&memory, 4)); }).join();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    std::thread([&] { EXPECT(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported); }).join();
    expect_invalid();
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    REQUIRE(mode == cudaStreamCaptureModeGlobal);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMalloc(&memory, 4));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    REQUIRE(mode == cudaStreamCaptureModeRelaxed);

    // The end of a capture: not in this thread, not in this stream, not without what was forked.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    std::thread([&] { EXPECT(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureWrongThread); }).join();
    nothing<<<1, 1, 0, stream>>>();
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamWaitEvent(other, event, 0));
    nothing<<<1, 1, 0, other>>>();
    EXPECT(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
    EXPECT(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);

    // Events from outside, and from another capture.
    CHECK(cudaEventRecord(late, free_stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaStreamWaitEvent(stream, late, 0), cudaErrorStreamCaptureIsolation);
    expect_invalid();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(event, other));
    EXPECT(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureMerge);
    expect_invalid();
    EXPECT(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureInvalidated);

    // All is well again.
    CHECK(cudaDeviceSynchronize());
    printf("PASS\n");
    return 0;
}
