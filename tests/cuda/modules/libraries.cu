// Libraries of the driver: loaded without a context, with kernels and variables by their names.
//@ build: -lcuda

#include "../expect.h"
#include <cstring>
#include <cuda.h>

static const char *text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 8 .b8 table[24];
.visible .entry first(.param .u64 out) { .reg .b64 %rd1; ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 11; ret; }
.visible .entry second(.param .u64 out) { .reg .b64 %rd1; ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 22; ret; }
)";

int main() {
    CUdevice device;
    CUcontext context;
    CUlibrary library;
    CUkernel kernel, none;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    DRIVER_OK(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    DRIVER_OK(cuLibraryGetKernelCount(&count, library));
    CHECK(count == 2);
    CUkernel all[2];
    DRIVER_OK(cuLibraryEnumerateKernels(all, 2, library));
    const char *name = nullptr;
    DRIVER_OK(cuKernelGetName(&name, all[0]));
    CHECK(name && strcmp(name, "first") == 0);
    RETURNS(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&none, library, "third"));
    DRIVER_OK(cuLibraryGetKernel(&kernel, library, "second"));

    DRIVER_OK(cuCtxCreate(&context, nullptr, 0, device));
    CUdeviceptr out, table;
    size_t bytes = 0;
    DRIVER_OK(cuLibraryGetGlobal(&table, &bytes, library, "table"));
    CHECK(bytes == 24);
    DRIVER_OK(cuMemAlloc(&out, 4));
    void *params[] = {&out};
    int result = 0;
    // A kernel is launched as it is, or by its function in the context.
    DRIVER_OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    DRIVER_OK(cuMemcpyDtoH(&result, out, 4));
    CHECK(result == 22);
    CUfunction function;
    DRIVER_OK(cuKernelGetFunction(&function, all[0]));
    DRIVER_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    DRIVER_OK(cuMemcpyDtoH(&result, out, 4));
    CHECK(result == 11);
    CUmodule module;
    DRIVER_OK(cuLibraryGetModule(&module, library));
    DRIVER_OK(cuModuleGetFunction(&function, module, "second"));
    size_t offset = 9, size = 0;
    DRIVER_OK(cuKernelGetParamInfo(kernel, 0, &offset, &size));
    CHECK(offset == 0 && size == 8);
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuKernelGetParamInfo(kernel, 1, &offset, &size));
    DRIVER_OK(cuLibraryUnload(library));
    CHECK(cuLibraryGetKernel(&kernel, library, "first") != CUDA_SUCCESS);
    return done();
}
