// Texture references of a module, by the driver: memory, rows, arrays, how they are read, what is asked of them.
//@ build: -lcuda -Wno-deprecated-declarations
//@ bugs: it makes calls that fail

#include "../expect.h"
#include <cuda.h>
#include <cstring>

static const char *module_text = R"(
.version 7.0
.target sm_70
.address_size 64
.global .texref image;
.global .u32 number;
.visible .entry fetch(.param .u64 out) {
    .reg .b32 %i, %a, %b, %c, %d; .reg .b64 %o;
    ld.param.u64 %o, [out]; mov.u32 %i, %tid.x;
    tex.1d.v4.u32.s32 {%a, %b, %c, %d}, [image, {%i}];
    mad.wide.u32 %o, %i, 4, %o; st.global.u32 [%o], %a; ret;
}
.visible .entry sample(.param .u64 out, .param .f32 x, .param .f32 y) {
    .reg .b32 %a, %b, %c, %d; .reg .f32 %x, %y; .reg .b64 %o, %t;
    ld.param.u64 %o, [out]; ld.param.f32 %x, [x]; ld.param.f32 %y, [y];
    mov.u64 %t, image;
    tex.2d.v4.f32.f32 {%a, %b, %c, %d}, [%t, {%x, %y}];
    st.global.u32 [%o], %a; ret;
}
)";

static CUfunction kernel(CUmodule module, const char *name) {
    CUfunction found;
    DRIVER_OK(cuModuleGetFunction(&found, module, name));
    return found;
}

static float sampled(CUmodule module, CUdeviceptr out, float x, float y) {
    void *parameters[] = {&out, &x, &y};
    DRIVER_OK(cuLaunchKernel(kernel(module, "sample"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    float found;
    DRIVER_OK(cuMemcpyDtoH(&found, out, sizeof found));
    return found;
}

int main() {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    DRIVER_OK(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER_OK(cuCtxSetCurrent(context));
    DRIVER_OK(cuModuleLoadData(&module, module_text));
    CUtexref image, same;
    DRIVER_OK(cuModuleGetTexRef(&image, module, "image"));
    DRIVER_OK(cuModuleGetTexRef(&same, module, "image"));
    CHECK(same == image);
    CHECK(cuModuleGetTexRef(&same, module, "number") == CUDA_ERROR_NOT_FOUND);
    CHECK(cuTexRefSetFilterMode((CUtexref)16, CU_TR_FILTER_MODE_POINT) == CUDA_ERROR_INVALID_HANDLE);

    // Memory of bytes, as integers.
    unsigned char bytes[64];
    for (int i = 0; i < 64; i++) bytes[i] = 3 * i;
    CUdeviceptr data, out;
    DRIVER_OK(cuMemAlloc(&data, 4096));
    DRIVER_OK(cuMemAlloc(&out, 4096));
    DRIVER_OK(cuMemcpyHtoD(data, bytes, sizeof bytes));
    DRIVER_OK(cuTexRefSetFormat(image, CU_AD_FORMAT_UNSIGNED_INT8, 1));
    DRIVER_OK(cuTexRefSetFlags(image, CU_TRSF_READ_AS_INTEGER));
    size_t offset = 7;
    DRIVER_OK(cuTexRefSetAddress(&offset, image, data, sizeof bytes));
    CHECK(offset == 0);
    void *parameters[] = {&out};
    DRIVER_OK(cuLaunchKernel(kernel(module, "fetch"), 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
    unsigned found[64];
    DRIVER_OK(cuMemcpyDtoH(found, out, sizeof found));
    for (int i = 0; i < 64; i++) CHECK(found[i] == bytes[i]);
    // What was bound stays bound if something else cannot be.
    CHECK(cuTexRefSetAddress(nullptr, image, data + 4, 32) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuTexRefSetAddress(&offset, image, data, 8192) == CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr bound;
    DRIVER_OK(cuTexRefGetAddress(&bound, image));
    CHECK(bound == data);

    // Rows of floats, with a filter and coordinates from 0 to 1.
    float rows[4][8];
    for (int i = 0; i < 32; i++) rows[i / 8][i % 8] = i;
    for (int i = 0; i < 4; i++) DRIVER_OK(cuMemcpyHtoD(data + 512 * i, rows[i], sizeof rows[i]));
    CUDA_ARRAY_DESCRIPTOR shape = {8, 4, CU_AD_FORMAT_FLOAT, 1};
    DRIVER_OK(cuTexRefSetFlags(image, 0));
    DRIVER_OK(cuTexRefSetAddress2D(image, &shape, data, 512));
    CHECK(sampled(module, out, 3.5f, 2.5f) == 19);
    DRIVER_OK(cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_LINEAR));
    CHECK(sampled(module, out, 4, 1.5f) == 11.5f);

    // An array; what lies outside repeats.
    CUarray array, asked;
    DRIVER_OK(cuArrayCreate(&array, &shape));
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = rows;
    copy.srcPitch = sizeof rows[0];
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = sizeof rows[0];
    copy.Height = 4;
    DRIVER_OK(cuMemcpy2D(&copy));
    DRIVER_OK(cuTexRefSetArray(image, array, CU_TRSA_OVERRIDE_FORMAT));
    DRIVER_OK(cuTexRefGetArray(&asked, image));
    CHECK(asked == array);
    CHECK(cuTexRefGetAddress(&bound, image) == CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuTexRefSetFlags(image, CU_TRSF_NORMALIZED_COORDINATES));
    for (int i = 0; i < 2; i++) DRIVER_OK(cuTexRefSetAddressMode(image, i, CU_TR_ADDRESS_MODE_WRAP));
    CHECK(sampled(module, out, 1 + 4.0f / 8, 1.5f / 4) == 11.5f);

    unsigned flags;
    CUaddress_mode mode;
    CUfilter_mode filter;
    CUarray_format format;
    int channels;
    DRIVER_OK(cuTexRefGetFlags(&flags, image));
    DRIVER_OK(cuTexRefGetAddressMode(&mode, image, 1));
    DRIVER_OK(cuTexRefGetFilterMode(&filter, image));
    DRIVER_OK(cuTexRefGetFormat(&format, &channels, image));
    CHECK(flags == CU_TRSF_NORMALIZED_COORDINATES && mode == CU_TR_ADDRESS_MODE_WRAP);
    CHECK(filter == CU_TR_FILTER_MODE_LINEAR && format == CU_AD_FORMAT_FLOAT && channels == 1);
    DRIVER_OK(cuModuleUnload(module));
    CHECK(cuTexRefGetFlags(&flags, image) == CUDA_ERROR_INVALID_HANDLE);
    return done();
}
