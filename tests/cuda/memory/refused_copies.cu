// Copies and fills that a driver refuses: from and to memory of the wrong side, outside of arrays, over rows that overlap;
// and memory that is registered must be there.
//@ build: -lcuda

#include "../expect.h"
#include <cstring>
#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

int main() {
    OK(cudaFree(nullptr));
    CUdeviceptr device;
    DRIVER_OK(cuMemAlloc(&device, 4096));
    static char here[4096], there[4096];
    const CUdeviceptr host = (CUdeviceptr)here;

    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(there, host, 8));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(host, there, 8));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(host, device, 8));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(device, host, 8));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(0, there, 8));
    DRIVER_OK(cuMemcpyHtoD(host, there, 0));
    DRIVER_OK(cuMemcpy(host, device, 8));

    // Memory of the host that the device knows in part.
    char *pages = (char *)mmap(nullptr, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr large;
    DRIVER_OK(cuMemAlloc(&large, 4 * 4096));
    DRIVER_OK(cuMemHostRegister(pages + 4096, 4096, 0));
    DRIVER_OK(cuMemcpyHtoD(large, pages + 4096, 4096));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(large, pages + 4096, 4097));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(large, pages, 4097));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(large, (CUdeviceptr)pages + 4096, 8192));
    DRIVER_OK(cuMemcpyHtoD(large, pages, 4096));
    DRIVER_OK(cuMemHostRegister(pages + 8192, 4096, 0));
    DRIVER_OK(cuMemcpyHtoD(large, pages + 4096, 8192));
    DRIVER_OK(cuMemHostUnregister(pages + 4096));
    DRIVER_OK(cuMemHostUnregister(pages + 8192));
    DRIVER_OK(cuMemcpyHtoD(large, pages, 4 * 4096));
    DRIVER_OK(cuMemFree(large));

    CUDA_ARRAY_DESCRIPTOR description = {16, 16, CU_AD_FORMAT_FLOAT, 1};
    CUarray array;
    DRIVER_OK(cuArrayCreate(&array, &description));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(array, 1u << 31, here, 4));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(here, array, 62, 4));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(here, array, ~(size_t)0, 4));
    CUDA_MEMCPY2D rows;
    memset(&rows, 0, sizeof rows);
    rows.srcMemoryType = CU_MEMORYTYPE_HOST;
    rows.srcHost = here;
    rows.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    rows.dstArray = array;
    rows.WidthInBytes = 16;
    rows.Height = 2;
    rows.dstXInBytes = 48;
    rows.dstY = 14;
    DRIVER_OK(cuMemcpy2D(&rows));
    rows.dstXInBytes = 49;
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&rows));
    rows.dstXInBytes = 0;
    rows.dstY = 15;
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&rows));

    memset(&rows, 0, sizeof rows);
    rows.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    rows.srcDevice = 0;
    rows.srcXInBytes = 15;
    rows.dstMemoryType = CU_MEMORYTYPE_HOST;
    rows.dstHost = here;
    rows.WidthInBytes = 8;
    rows.Height = 1;
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&rows));
    rows.srcXInBytes = 0;
    rows.srcDevice = host;
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&rows));
    rows.srcDevice = device;
    DRIVER_OK(cuMemcpy2D(&rows));
    rows.Height = 2;
    rows.srcPitch = 8;
    rows.srcXInBytes = 1;
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&rows));

    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(device, 0, 1, 16, 1ull << 62));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(device, 4, 1, 16, 4));
    DRIVER_OK(cuMemsetD2D8(device, 0, 1, 16, 1));
    RETURNS(cudaErrorInvalidValue, cudaMemset2D((void *)device, 4, 0, 8, 8));
    CUgraph graph;
    CUgraphNode node;
    CUcontext context;
    DRIVER_OK(cuCtxGetCurrent(&context));
    DRIVER_OK(cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS fill;
    memset(&fill, 0, sizeof fill);
    fill.dst = device;
    fill.elementSize = 1;
    fill.width = 16;
    fill.height = 1ull << 62;
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));

    const size_t page = 4096;
    char *mapped = (char *)mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(mapped + page, page);
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(mapped, 1ull << 40, 0));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(mapped, page + 1, 0));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister((void *)0x10000, page, 0));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(0x10000, 0, 64));
    DRIVER_OK(cuMemHostRegister(mapped, page, 0));
    DRIVER_OK(cuMemcpyDtoD((CUdeviceptr)mapped, device, 8));

    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = device;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.sizeInBytes = 256;
    CUDA_TEXTURE_DESC sampler;
    memset(&sampler, 0, sizeof sampler);
    CUtexObject texture;
    for (unsigned channels : {0u, 3u, 1000u}) {
        resource.res.linear.numChannels = channels;
        RETURNS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &resource, &sampler, nullptr));
    }
    resource.res.linear.numChannels = 4;
    DRIVER_OK(cuTexObjectCreate(&texture, &resource, &sampler, nullptr));
    return done();
}
