// Contexts are created, pushed and popped, and a destroyed one is refused.
//@ build: -lcuda

#include "../expect.h"
#include <cuda.h>

int main() {
    CUdevice device;
    CUcontext first, second, current;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == nullptr);
    CUdeviceptr pointer;
    RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&pointer, 4));
    RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());

    DRIVER_OK(cuCtxCreate(&first, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, device));
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == first);
    DRIVER_OK(cuCtxCreate(&second, nullptr, 0, device));
    CHECK(first != second);
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == second);
    DRIVER_OK(cuCtxPopCurrent(&current));
    CHECK(current == second);
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == first);
    unsigned flags = 0, version = 0;
    DRIVER_OK(cuCtxGetFlags(&flags));
    CHECK((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_BLOCKING_SYNC);
    DRIVER_OK(cuCtxGetApiVersion(first, &version));
    CHECK(version >= 3010);
    CUdevice of_context = 9;
    DRIVER_OK(cuCtxGetDevice(&of_context));
    CHECK(of_context == device);
    unsigned long long id = 0, other_id = 0;
    DRIVER_OK(cuCtxGetId(first, &id));
    DRIVER_OK(cuCtxGetId(second, &other_id));
    CHECK(id != other_id);

    DRIVER_OK(cuCtxPushCurrent(second));
    DRIVER_OK(cuMemAlloc(&pointer, 4));
    DRIVER_OK(cuMemFree(pointer));
    DRIVER_OK(cuCtxDestroy(second));
    // A context that is on top goes from the stack when it is destroyed.
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == first);
    CHECK(cuCtxDestroy(second) != CUDA_SUCCESS);
    CHECK(cuCtxPushCurrent(second) != CUDA_SUCCESS);
    CHECK(cuCtxSetCurrent(second) != CUDA_SUCCESS);

    DRIVER_OK(cuCtxSetCurrent(nullptr));
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == nullptr);
    RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&current));
    DRIVER_OK(cuCtxDestroy(first));
    return done();
}
