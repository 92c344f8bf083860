//@ bugs: frees and copies what is not there
// Memory with the driver: fills of 8, 16 and 32 bits, copies in all forms, ranges, and what belongs to a pointer.
//@ build: -lcuda

#include "../expect.h"
#include <cstring>
#include <cuda.h>

int main() {
    CUdevice device;
    CUcontext context;
    CUdeviceptr p, q, base;
    size_t bytes, pitch;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    DRIVER_OK(cuCtxCreate(&context, nullptr, 0, device));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0));
    DRIVER_OK(cuMemAlloc(&p, 64));
    DRIVER_OK(cuMemGetAddressRange(&base, &bytes, p + 17));
    CHECK(base == p && bytes == 64);

    unsigned char host[64];
    DRIVER_OK(cuMemsetD8(p, 0xab, 64));
    DRIVER_OK(cuMemsetD16(p + 2, 0x1234, 3));
    DRIVER_OK(cuMemsetD32(p + 16, 0xdeadbeef, 2));
    DRIVER_OK(cuMemcpyDtoH(host, p, 64));
    CHECK(host[1] == 0xab && host[2] == 0x34 && host[3] == 0x12 && host[7] == 0x12 && host[8] == 0xab);
    CHECK(host[16] == 0xef && host[19] == 0xde && host[23] == 0xde && host[24] == 0xab);
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p + 2, 1, 1));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(p + 1, 1, 1));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(p, 1, 65));

    DRIVER_OK(cuMemAllocPitch(&q, &pitch, 24, 4, 8));
    CHECK(pitch >= 24);
    DRIVER_OK(cuMemsetD2D8(q, pitch, 1, 24, 4));
    DRIVER_OK(cuMemsetD2D16(q + pitch, pitch, 0x0202, 3, 2));
    DRIVER_OK(cuMemsetD2D32(q + 2 * pitch + 8, pitch, 0x03030303, 2, 2));
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = q;
    copy.srcPitch = pitch;
    copy.srcXInBytes = 4;
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = host;
    copy.dstPitch = 16;
    copy.WidthInBytes = 16;
    copy.Height = 3;
    DRIVER_OK(cuMemcpy2D(&copy));
    CHECK(host[0] == 2 && host[2] == 1 && host[16] == 2 && host[16 + 4] == 3 && host[32] == 1 && host[32 + 4] == 3);
    DRIVER_OK(cuMemcpy2DUnaligned(&copy));

    for (int i = 0; i < 64; i++) host[i] = (unsigned char)i;
    DRIVER_OK(cuMemcpyHtoD(p, host, 64));
    DRIVER_OK(cuMemcpyDtoD(p + 32, p, 32));
    memset(host, 0, 64);
    DRIVER_OK(cuMemcpy((CUdeviceptr)host, p + 32, 32));
    CHECK(host[31] == 31 && host[32] == 0);
    CUstream stream;
    DRIVER_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER_OK(cuMemsetD8Async(p, 5, 64, stream));
    DRIVER_OK(cuMemcpyDtoHAsync(host, p, 64, stream));
    DRIVER_OK(cuStreamSynchronize(stream));
    CHECK(host[0] == 5 && host[63] == 5);

    CUmemorytype type;
    DRIVER_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    CUcontext of_pointer = nullptr;
    DRIVER_OK(cuPointerGetAttribute(&of_pointer, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    CHECK(of_pointer == context);
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host) != CUDA_SUCCESS);

    void *pinned;
    DRIVER_OK(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CUdeviceptr mapped = 0;
    DRIVER_OK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
    CHECK(mapped != 0);
    DRIVER_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pinned));
    CHECK(type == CU_MEMORYTYPE_HOST);
    DRIVER_OK(cuMemFreeHost(pinned));
    CUdeviceptr managed;
    DRIVER_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    unsigned is_managed = 0;
    DRIVER_OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    CHECK(is_managed == 1);
    DRIVER_OK(cuMemFree(managed));
    DRIVER_OK(cuMemFree(p));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemFree(0x1234));
    RETURNS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, (size_t)1 << 50));
    return done();
}
