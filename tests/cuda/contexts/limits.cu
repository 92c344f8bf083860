// Limits and settings of a context of the driver can be read and set.
//@ build: -lcuda

#include "../expect.h"
#include <cuda.h>

int main() {
    CUdevice device;
    CUcontext context;
    size_t bytes = 0;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
    DRIVER_OK(cuCtxCreate(&context, nullptr, 0, device));
    DRIVER_OK(cuCtxGetLimit(&bytes, CU_LIMIT_MALLOC_HEAP_SIZE));
    CHECK(bytes == 8 << 20);
    DRIVER_OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    DRIVER_OK(cuCtxGetLimit(&bytes, CU_LIMIT_MALLOC_HEAP_SIZE));
    CHECK(bytes == 16 << 20);
    CHECK(cuCtxSetLimit((CUlimit)0x777, 1) != CUDA_SUCCESS);
    int least = 9, greatest = 9;
    DRIVER_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest <= 0);
    CUfunc_cache config;
    DRIVER_OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    DRIVER_OK(cuCtxGetCacheConfig(&config));
    DRIVER_OK(cuCtxSynchronize());
    DRIVER_OK(cuCtxDestroy(context));
    return done();
}
