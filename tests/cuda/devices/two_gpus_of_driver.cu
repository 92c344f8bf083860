// Two GPUs through the driver: contexts, primary contexts, modules and libraries of each, peer access, and access to mappings.
//@ run: --gpu a100,t4 --device-memory 256M
//@ build: -lcuda

#include <cuda.h>
#include <cstring>

#include "../expect.h"

static const char *text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 value = 5;
.visible .entry add(.param .u64 out)
{
	.reg .u32 %r<3>;
	.reg .u64 %rd;
	ld.param.u64 %rd, [out];
	ld.global.u32 %r1, [value];
	add.u32 %r1, %r1, 1;
	st.global.u32 [value], %r1;
	st.global.u32 [%rd], %r1;
	ret;
}
)";

static void run(CUfunction function, CUstream stream, CUdeviceptr out) {
    void *params[] = {&out};
    DRIVER_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
}

static unsigned word(CUdeviceptr at) {
    unsigned found = 0;
    DRIVER_OK(cuMemcpyDtoH(&found, at, 4));
    return found;
}

int main() {
    DRIVER_OK(cuInit(0));
    int count = 0;
    DRIVER_OK(cuDeviceGetCount(&count));
    CHECK(count == 2);
    CUdevice device;
    RETURNS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 2));
    CUcontext context[2];
    CUstream stream[2];
    CUdeviceptr data[2];
    CUmodule module[2];
    CUfunction function[2];
    for (int i = 0; i < 2; i++) {
        DRIVER_OK(cuDeviceGet(&device, i));
        DRIVER_OK(cuDevicePrimaryCtxRetain(&context[i], device));
        DRIVER_OK(cuCtxSetCurrent(context[i]));
        DRIVER_OK(cuCtxGetDevice(&device));
        CHECK(device == i);
        DRIVER_OK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
        DRIVER_OK(cuMemAlloc(&data[i], 4096));
        int ordinal = -1;
        DRIVER_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, data[i]));
        CUcontext of_pointer;
        DRIVER_OK(cuPointerGetAttribute(&of_pointer, CU_POINTER_ATTRIBUTE_CONTEXT, data[i]));
        CHECK(ordinal == i && of_pointer == context[i]);
        DRIVER_OK(cuModuleLoadData(&module[i], text));
        DRIVER_OK(cuModuleGetFunction(&function[i], module[i], "add"));
    }
    CHECK(context[0] != context[1]);
    unsigned flags;
    int active;
    DRIVER_OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    CHECK(active == 1);

    // A module is where it was loaded.
    run(function[0], stream[0], data[0]);
    run(function[0], stream[0], data[0]);
    run(function[1], stream[1], data[1]);
    DRIVER_OK(cuStreamSynchronize(stream[0]));
    DRIVER_OK(cuStreamSynchronize(stream[1]));
    CHECK(word(data[0]) == 7 && word(data[1]) == 6);
    void *params[] = {&data[0]};
    RETURNS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(function[0], 1, 1, 1, 1, 1, 1, 0, stream[1], params, nullptr));

    // A library is on all devices.
    CUlibrary library;
    CUkernel kernel;
    DRIVER_OK(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    DRIVER_OK(cuLibraryGetKernel(&kernel, library, "add"));
    CUdeviceptr variable[2];
    for (int i = 0; i < 2; i++) {
        DRIVER_OK(cuCtxSetCurrent(context[i]));
        size_t bytes;
        DRIVER_OK(cuLibraryGetGlobal(&variable[i], &bytes, library, "value"));
        for (int n = 0; n <= i; n++) run((CUfunction)kernel, stream[i], data[i]);
        DRIVER_OK(cuCtxSynchronize());
        CHECK(word(data[i]) == 6 + i && word(variable[i]) == 6 + i);
    }
    CHECK(variable[0] != variable[1]);
    DRIVER_OK(cuLibraryUnload(library));

    // Peer copies and peer access.
    DRIVER_OK(cuMemcpyPeer(data[1], context[1], data[0], context[0], 4));
    CHECK(word(data[1]) == 6);
    DRIVER_OK(cuCtxSetCurrent(context[0]));
    RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(context[0], 0));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuCtxEnablePeerAccess(context[1], 1));
    RETURNS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(context[1]));
    DRIVER_OK(cuCtxEnablePeerAccess(context[1], 0));
    RETURNS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(context[1], 0));
    run(function[0], nullptr, data[1]);
    DRIVER_OK(cuCtxSynchronize());
    CHECK(word(data[1]) == 8);
    DRIVER_OK(cuCtxDisablePeerAccess(context[1]));
    CUcontext second;
#if CUDA_VERSION >= 13000
    DRIVER_OK(cuCtxCreate(&second, nullptr, 0, 0));
#else
    DRIVER_OK(cuCtxCreate(&second, 0, 0));
#endif
    RETURNS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(context[0], 0));
    DRIVER_OK(cuCtxDestroy(second));

    // Memory of device 1 behind addresses, which both may access.
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = 1;
    DRIVER_OK(cuCtxSetCurrent(context[1]));
    size_t granule, before, after, total;
    DRIVER_OK(cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    DRIVER_OK(cuMemGetInfo(&before, &total));
    CUmemGenericAllocationHandle handle;
    DRIVER_OK(cuMemCreate(&handle, granule, &prop, 0));
    DRIVER_OK(cuMemGetInfo(&after, &total));
    CHECK(before - after == granule);
    CUdeviceptr mapped;
    DRIVER_OK(cuMemAddressReserve(&mapped, granule, 0, 0, 0));
    DRIVER_OK(cuMemMap(mapped, granule, 0, handle, 0));
    CUmemAccessDesc access[2];
    for (int i = 0; i < 2; i++) access[i] = {{CU_MEM_LOCATION_TYPE_DEVICE, i}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    DRIVER_OK(cuMemSetAccess(mapped, granule, &access[1], 1));
    unsigned long long given;
    DRIVER_OK(cuMemGetAccess(&given, &access[0].location, mapped));
    CHECK(given == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    run(function[1], nullptr, mapped);
    DRIVER_OK(cuCtxSynchronize());
    CHECK(word(mapped) == 7);
    DRIVER_OK(cuMemSetAccess(mapped, granule, access, 2));
    DRIVER_OK(cuMemGetAccess(&given, &access[0].location, mapped));
    CHECK(given == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    int ordinal = -1;
    DRIVER_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, mapped));
    CHECK(ordinal == 1);
    DRIVER_OK(cuCtxSetCurrent(context[0]));
    run(function[0], nullptr, mapped);
    DRIVER_OK(cuCtxSynchronize());
    CHECK(word(mapped) == 9);
    DRIVER_OK(cuMemUnmap(mapped, granule));
    DRIVER_OK(cuMemRelease(handle));
    DRIVER_OK(cuMemAddressFree(mapped, granule));

    for (int i = 0; i < 2; i++) {
        DRIVER_OK(cuCtxSetCurrent(context[i]));
        DRIVER_OK(cuMemFree(data[i]));
        DRIVER_OK(cuModuleUnload(module[i]));
        DRIVER_OK(cuStreamDestroy(stream[i]));
    }
    for (int i = 0; i < 2; i++) DRIVER_OK(cuDevicePrimaryCtxRelease(i));
    DRIVER_OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    CHECK(active == 0);
    return done();
}
