// A program that asks for the log of the compiler finds in it why its PTX is wrong.
//@ stderr: `%nowhere` is not a declared register
//@ build: -lcuda

#include "../expect.h"
#include <cstring>
#include <cuda.h>

int main() {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    DRIVER_OK(cuCtxCreate(&context, nullptr, 0, device));
    char errors[1000] = "", infos[1000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {errors, (void *)sizeof errors, infos, (void *)sizeof infos};
    RETURNS(CUDA_ERROR_INVALID_PTX,
            cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { mov.u32 %nowhere, 1; }\n", 4, options, values));
    CHECK(strstr(errors, "line 4") != nullptr);
    CHECK(strstr(errors, "%nowhere") != nullptr);
    // The driver gives the length of what it wrote.
    CHECK((size_t)values[1] == strlen(errors) || (size_t)values[1] == strlen(errors) + 1);
    return done();
}
