// What is not PTX is refused, with a reason, and the program goes on.
//@ build: -lcuda
//@ stderr: of a module of the program is not PTX

#include "../expect.h"
#include <cuda.h>

int main() {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    DRIVER_OK(cuCtxCreate(&context, nullptr, 0, device));
    RETURNS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.address_size 64\nthis is not PTX\n"));
    char log[1000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    RETURNS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { mov.u32 %r1, 1; }\n", 2, options, values));
    RETURNS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere/at/all.ptx"));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, nullptr));
    DRIVER_OK(cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { ret; }\n"));
    DRIVER_OK(cuModuleUnload(module));
    return done();
}
