// The primary context is counted, and is the one that the runtime works in.
//@ build: -lcuda

#include "../expect.h"
#include <cuda.h>

__global__ void set(int *p) { *p = 5; }

int main() {
    CUdevice device;
    CUcontext context = nullptr, again = nullptr, current = nullptr;
    unsigned flags = 99;
    int active = 99;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    DRIVER_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(active == 0 && flags == 0);
    RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device));
    DRIVER_OK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_SPIN));
    DRIVER_OK(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER_OK(cuDevicePrimaryCtxRetain(&again, device));
    CHECK(context == again);
    DRIVER_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(active == 1);
    CHECK((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_SPIN);
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == nullptr); // It is retained, and not pushed.
    DRIVER_OK(cuDevicePrimaryCtxRelease(device));
    DRIVER_OK(cuDevicePrimaryCtxRelease(device));
    DRIVER_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(active == 0);

    int *pointer, value = 0;
    OK(cudaMalloc(&pointer, sizeof(int)));
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current != nullptr);
    DRIVER_OK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(current == context);
    DRIVER_OK(cuDevicePrimaryCtxRelease(device));

    // The runtime works in what the driver made current, too.
    CUcontext own;
    DRIVER_OK(cuCtxCreate(&own, nullptr, 0, device));
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    CUcontext of_stream = nullptr;
    DRIVER_OK(cuStreamGetCtx(stream, &of_stream));
    CHECK(of_stream == own);
    OK(cudaStreamDestroy(stream));
    DRIVER_OK(cuCtxDestroy(own));

    set<<<1, 1>>>(pointer);
    OK(cudaMemcpy(&value, pointer, sizeof value, cudaMemcpyDefault));
    CHECK(value == 5);
    OK(cudaFree(pointer));
    OK(cudaDeviceReset());
    DRIVER_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(active == 0);
    return done();
}
