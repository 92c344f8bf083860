// The forms of a launch with the driver: pointers, a buffer, a configuration with attributes, and what it refuses.
//@ build: -lcuda

#include "../expect.h"
#include <cuda.h>

static const char *text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry put(.param .u64 out, .param .u8 small, .param .f64 big)
{
    .reg .b64 %rd1; .reg .b16 %rs1; .reg .b32 %r<3>; .reg .f64 %fd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u8 %rs1, [small];
    ld.param.f64 %fd1, [big];
    cvt.rn.f64.u16 %fd2, %rs1;
    add.f64 %fd1, %fd1, %fd2;
    st.global.f64 [%rd1], %fd1;
    mov.u32 %r1, %nctaid.x;
    mov.u32 %r2, %ntid.y;
    st.global.u32 [%rd1+8], %r1;
    st.global.u32 [%rd1+12], %r2;
    ret;
}
.visible .entry exact(.param .u64 out) .reqntid 8, 4, 1 { ret; }
.visible .entry at_most(.param .u64 out) .maxntid 64, 1, 1 { ret; }
)";

struct Result { double value; unsigned grid, block; };

int main() {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction put, exact, at_most;
    CUdeviceptr out;
    Result result;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    DRIVER_OK(cuCtxCreate(&context, nullptr, 0, device));
    DRIVER_OK(cuModuleLoadData(&module, text));
    DRIVER_OK(cuModuleGetFunction(&put, module, "put"));
    DRIVER_OK(cuModuleGetFunction(&exact, module, "exact"));
    DRIVER_OK(cuModuleGetFunction(&at_most, module, "at_most"));
    DRIVER_OK(cuMemAlloc(&out, sizeof result));

    unsigned char small = 3;
    double big = 0.5;
    void *params[] = {&out, &small, &big};
    DRIVER_OK(cuLaunchKernel(put, 2, 1, 1, 1, 3, 1, 0, nullptr, params, nullptr));
    DRIVER_OK(cuMemcpyDtoH(&result, out, sizeof result));
    CHECK(result.value == 3.5 && result.grid == 2 && result.block == 3);

    struct { CUdeviceptr out; unsigned char small; double big; } buffer = {out, 4, 0.25};
    size_t bytes = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    DRIVER_OK(cuLaunchKernel(put, 5, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
    DRIVER_OK(cuMemcpyDtoH(&result, out, sizeof result));
    CHECK(result.value == 4.25 && result.grid == 5 && result.block == 1);
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, params, extra));

    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    CUlaunchConfig config = {};
    config.gridDimX = 3;
    config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimZ = 1;
    config.blockDimY = 2;
    config.attrs = &attribute;
    config.numAttrs = 1;
    big = 1.5;
    DRIVER_OK(cuLaunchKernelEx(&config, put, params, nullptr));
    DRIVER_OK(cuMemcpyDtoH(&result, out, sizeof result));
    CHECK(result.value == 4.5 && result.grid == 3 && result.block == 2);

    // A grid or block of nothing, or of too much.
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(put, 0, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(put, 1, 1, 1, 1, 0, 1, 0, nullptr, params, nullptr));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(put, 1, 65536, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(put, 1, 1, 1, 1025, 1, 1, 0, nullptr, params, nullptr));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(put, 1, 1, 1, 1, 1, 65, 0, nullptr, params, nullptr));
    RETURNS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    CHECK(cuLaunchKernel(exact, 1, 1, 1, 4, 8, 1, 0, nullptr, params, nullptr) != CUDA_SUCCESS);
    DRIVER_OK(cuLaunchKernel(exact, 1, 1, 1, 8, 4, 1, 0, nullptr, params, nullptr));
    CHECK(cuLaunchKernel(at_most, 1, 1, 1, 65, 1, 1, 0, nullptr, params, nullptr) != CUDA_SUCCESS);
    DRIVER_OK(cuLaunchKernel(at_most, 1, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr));
    int value = 0;
    DRIVER_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, at_most));
    CHECK(value == 64);
    size_t offset = 0, size = 0;
    DRIVER_OK(cuFuncGetParamInfo(put, 2, &offset, &size));
    CHECK(offset == 16 && size == 8);
    DRIVER_OK(cuCtxSynchronize());
    return done();
}
