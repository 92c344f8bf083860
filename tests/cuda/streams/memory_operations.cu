// A stream waits for words of memory and writes them; the functions are found by name and version.

#include "../check.h"

#include <cuda.h>
#include <unistd.h>

static void *find(const char *name) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointSuccess && function != nullptr);
    return function;
}

__global__ void add(unsigned *value, unsigned amount) { *value += amount; }

int main() {
    unsigned *words;
    CHECK(cudaMallocManaged(&words, 64));
    for (int i = 0; i < 16; i++) words[i] = 0;
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    auto wait = (CUresult(*)(CUstream, CUdeviceptr, cuuint32_t, unsigned))find("cuStreamWaitValue32");
    auto write = (CUresult(*)(CUstream, CUdeviceptr, cuuint32_t, unsigned))find("cuStreamWriteValue32");
    auto write_wide = (CUresult(*)(CUstream, CUdeviceptr, cuuint64_t, unsigned))find("cuStreamWriteValue64");
    auto batch = (CUresult(*)(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned))find("cuStreamBatchMemOp");
    auto at = [&](int word) { return (CUdeviceptr)(words + word); };

    // The first stream goes on when the second has written.
    REQUIRE(wait(one, at(0), 7, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
    add<<<1, 1, 0, one>>>(words + 1, 5);
    usleep(100000);
    EXPECT(cudaStreamQuery(one), cudaErrorNotReady);
    REQUIRE(write(two, at(0), 7, 0) == CUDA_SUCCESS);
    CHECK(cudaStreamSynchronize(one));
    REQUIRE(words[1] == 5);

    // Or when the host has.
    REQUIRE(wait(one, at(2), 100, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
    add<<<1, 1, 0, one>>>(words + 1, 5);
    usleep(100000);
    EXPECT(cudaStreamQuery(one), cudaErrorNotReady);
    *(volatile unsigned *)&words[2] = 101;
    CHECK(cudaStreamSynchronize(one));
    REQUIRE(words[1] == 10);

    CUstreamBatchMemOpParams list[3] = {};
    list[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    list[0].waitValue.address = at(2);
    list[0].waitValue.value = 4;
    list[0].waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
    list[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    list[1].writeValue.address = at(4);
    list[1].writeValue.value64 = 0x100000002ull;
    list[2].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    REQUIRE(batch(two, 3, list, 0) == CUDA_SUCCESS);
    REQUIRE(write_wide(two, at(6), ~0ull, 0) == CUDA_SUCCESS);
    CHECK(cudaStreamSynchronize(two));
    REQUIRE(words[4] == 2 && words[5] == 1 && words[6] == ~0u && words[7] == ~0u);

    // Not of memory that the device does not know, nor between words.
    unsigned host = 0;
    REQUIRE(write(one, (CUdeviceptr)&host, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(write(one, at(0) + 2, 1, 0) == CUDA_ERROR_INVALID_VALUE);

    // They can be captured.
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    REQUIRE(write(one, at(8), 9, 0) == CUDA_SUCCESS);
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaStreamSynchronize(one));
    REQUIRE(words[8] == 0);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaStreamSynchronize(one));
    REQUIRE(words[8] == 9);

    void *function = &host;
    cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointSymbolNotFound && function == nullptr);
    CHECK(cudaGetDriverEntryPointByVersion("cuGraphCreate", &function, 9000, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointVersionNotSufficent);
    printf("PASS\n");
    return 0;
}
