// Memory behind addresses that the program reserved is the device's, too.
//@ build: -lcuda
#include "memcheck.h"
#include <cuda.h>

int main() {
    OK(cudaFree(nullptr));
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    size_t bytes = 2 << 20;
    CUmemGenericAllocationHandle memory;
    CUdeviceptr address;
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (cuMemCreate(&memory, bytes, &prop, 0) || cuMemAddressReserve(&address, bytes, 0, 0, 0) ||
        cuMemMap(address, bytes, 0, memory, 0) || cuMemSetAccess(address, bytes, &access, 1) ||
        cuMemsetD32(address, 7, bytes / 4))
        return 1;
#ifndef FIXED
    printf("%d\n", *(volatile int *)address); //~ ERROR host-access
#endif
    return finish();
}
