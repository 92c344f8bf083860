// The driver's copies to and from arrays of one dimension, and between contexts.

#include "../check.h"

#include <cuda.h>

#define CALL(name, ...)                                                                                    \
    do {                                                                                                   \
        void *function = nullptr;                                                                          \
        cudaDriverEntryPointQueryResult status;                                                            \
        CHECK(cudaGetDriverEntryPointByVersion(#name, &function, 12000, cudaEnableDefault, &status));      \
        REQUIRE(((decltype(&name))function)(__VA_ARGS__) == CUDA_SUCCESS);                                 \
    } while (0)

int main() {
    CHECK(cudaFree(0));
    CUcontext context;
    CALL(cuCtxGetCurrent, &context);
    CUDA_ARRAY_DESCRIPTOR desc = {};
    desc.Width = 16;
    desc.Format = CU_AD_FORMAT_SIGNED_INT32;
    desc.NumChannels = 1;
    CUarray one, two;
    CALL(cuArrayCreate, &one, &desc);
    CALL(cuArrayCreate, &two, &desc);
    int in[16], out[16] = {}, *device, *other;
    for (int i = 0; i < 16; i++) in[i] = i * i;
    CHECK(cudaMalloc(&device, sizeof(in)));
    CHECK(cudaMalloc(&other, sizeof(in)));
    CALL(cuMemcpyHtoA, one, 0, in, sizeof(in));
    CALL(cuMemcpyAtoA, two, 4 * sizeof(int), one, 0, 8 * sizeof(int));
    CALL(cuMemcpyAtoD, (CUdeviceptr)device, two, 0, sizeof(in));
    CALL(cuMemcpyPeer, (CUdeviceptr)other, context, (CUdeviceptr)device, context, sizeof(in));
    CALL(cuMemcpyDtoA, one, 0, (CUdeviceptr)other, sizeof(in));
    CALL(cuMemcpyAtoH, out, one, sizeof(int), 15 * sizeof(int));
    // The whole went four elements up, and one down.
    for (int i = 3; i < 11; i++) REQUIRE(out[i] == (i - 3) * (i - 3));

    cudaMemcpy3DPeerParms peer = {};
    peer.srcPtr = make_cudaPitchedPtr(device, sizeof(in), sizeof(in), 1);
    peer.dstPtr = make_cudaPitchedPtr(other, sizeof(in), sizeof(in), 1);
    peer.extent = make_cudaExtent(sizeof(in), 1, 1);
    CHECK(cudaMemcpy(device, in, sizeof(in), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy3DPeer(&peer));
    CHECK(cudaMemcpy(out, other, sizeof(out), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; i++) REQUIRE(out[i] == in[i]);
    peer.dstDevice = 1;
    EXPECT(cudaMemcpy3DPeer(&peer), cudaErrorInvalidDevice);
    printf("PASS\n");
    return 0;
}
