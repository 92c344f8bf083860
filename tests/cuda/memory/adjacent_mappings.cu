// Memory that is mapped beside other memory is one piece to a pointer that walks through it.
//@ build: -lcuda

#include "../expect.h"
#include <cuda.h>

__global__ void fill(int *p, size_t count) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) p[i] = (int)i;
}

int main() {
    OK(cudaFree(nullptr));
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t piece;
    DRIVER_OK(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUdeviceptr start;
    DRIVER_OK(cuMemAddressReserve(&start, 3 * piece, 0, 0, 0));
    CUmemAccessDesc access = {};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (int i = 0; i < 3; i++) {
        CUmemGenericAllocationHandle memory;
        DRIVER_OK(cuMemCreate(&memory, piece, &properties, 0));
        DRIVER_OK(cuMemMap(start + i * piece, piece, 0, memory, 0));
        DRIVER_OK(cuMemSetAccess(start + i * piece, piece, &access, 1));
        DRIVER_OK(cuMemRelease(memory));
    }
    const size_t count = 3 * piece / sizeof(int);
    fill<<<16, 128>>>((int *)start, count);
    OK(cudaDeviceSynchronize());
    // Also with a pointer into the middle.
    fill<<<1, 128>>>((int *)(start + piece), 2 * piece / sizeof(int));
    OK(cudaDeviceSynchronize());
    int last = 0;
    OK(cudaMemcpy(&last, (int *)start + count - 1, sizeof last, cudaMemcpyDeviceToHost));
    CHECK(last == (int)(2 * piece / sizeof(int)) - 1);
    return done();
}
