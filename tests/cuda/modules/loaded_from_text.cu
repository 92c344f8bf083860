// PTX in the source of the program is loaded, its kernels run, and names that it does not have are refused.
//@ build: -lcuda

#include "../expect.h"
#include <cuda.h>

static const char *text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 40;
.visible .entry add(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    mov.u64 %rd2, counter;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
)";

int main() {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel, none;
    CUdeviceptr out, counter;
    size_t bytes = 0;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuModuleLoadData(&module, text));
    DRIVER_OK(cuCtxCreate(&context, nullptr, 0, device));
    DRIVER_OK(cuModuleLoadData(&module, text));
    DRIVER_OK(cuModuleGetFunction(&kernel, module, "add"));
    RETURNS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, module, "subtract"));
    RETURNS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&counter, &bytes, module, "nothing"));
    DRIVER_OK(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
    CHECK(bytes == 4);

    DRIVER_OK(cuMemAlloc(&out, 4));
    unsigned value = 2, result = 0;
    void *params[] = {&out, &value};
    DRIVER_OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    DRIVER_OK(cuMemcpyDtoH(&result, out, 4));
    CHECK(result == 42);

    // Each module has its own variables.
    CUmodule second;
    CUdeviceptr counter_of_second;
    DRIVER_OK(cuModuleLoadDataEx(&second, text, 0, nullptr, nullptr));
    DRIVER_OK(cuModuleGetGlobal(&counter_of_second, nullptr, second, "counter"));
    CHECK(counter != counter_of_second);
    unsigned hundred = 100;
    DRIVER_OK(cuMemcpyHtoD(counter, &hundred, 4));
    DRIVER_OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    DRIVER_OK(cuMemcpyDtoH(&result, out, 4));
    CHECK(result == 102);
    DRIVER_OK(cuMemcpyDtoH(&result, counter_of_second, 4));
    CHECK(result == 40);

    DRIVER_OK(cuModuleUnload(module));
    CHECK(cuModuleUnload(module) != CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&kernel, module, "add") != CUDA_SUCCESS);
    DRIVER_OK(cuModuleUnload(second));
    DRIVER_OK(cuMemFree(out));
    DRIVER_OK(cuCtxDestroy(context));
    return done();
}
