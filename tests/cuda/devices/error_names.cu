// Errors have the names and sentences that programs print.
//@ build: -lcuda

#include "../expect.h"
#include <cstring>
#include <cuda.h>

static void named(cudaError_t error, const char *name, const char *sentence) {
    if (strcmp(cudaGetErrorName(error), name) != 0) printf("%d is called %s\n", error, cudaGetErrorName(error)), failed_checks++;
    if (strcmp(cudaGetErrorString(error), sentence) != 0) printf("%d says %s\n", error, cudaGetErrorString(error)), failed_checks++;
}

int main() {
    named(cudaSuccess, "cudaSuccess", "no error");
    named(cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument");
    named(cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory");
    named(cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error");
    named(cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument");
    named(cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol");
    named(cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy");
    named(cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function");
    named(cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected");
    named(cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal");
    named(cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device");
    named(cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle");
    named(cudaErrorNotReady, "cudaErrorNotReady", "device not ready");
    named(cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered");
    named(cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch");
    named(cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated");
    named(cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered");
    named(cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address");
    named(cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure");
    named(cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch");
    named(cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported");
    named(cudaErrorUnknown, "cudaErrorUnknown", "unknown error");
    named((cudaError_t)12345, "unrecognized error code", "unrecognized error code");

    const char *text = nullptr;
    DRIVER_OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK(text && strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    DRIVER_OK(cuGetErrorString(CUDA_ERROR_INVALID_CONTEXT, &text));
    CHECK(text && strcmp(text, "invalid device context") == 0);
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &text));
    CHECK(text == nullptr);

    // The last error is kept for each thread until it is asked for.
    RETURNS(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 4));
    RETURNS(cudaErrorInvalidValue, cudaPeekAtLastError());
    RETURNS(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaGetLastError());
    return done();
}
