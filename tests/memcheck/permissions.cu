//@ headers: nvtx
//@ flags: --on-error continue
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>

#include "memcheck.h"


static nvtxDomainHandle_t domain;

static void allow(const void *pointer, uint32_t flags) {
    nvtxMemPermissionsAssignRegionDesc_t region = {};
    region.flags = flags;
    region.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER;
    region.region.pointer = pointer;
    nvtxMemPermissionsAssignBatch_t batch = {};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.permissions = nvtxMemCudaGetProcessWidePermissions(domain);
    batch.regionCount = 1;
    batch.regionElementSize = sizeof region;
    batch.regionElements = &region;
    nvtxMemPermissionsAssign(domain, &batch);
}

__global__ void read(const int *data, int *result) {
    *result = data[threadIdx.x]; //~ ERROR not-permitted
}

__global__ void write(int *data) {
    data[threadIdx.x] = 1; //~ ERROR not-permitted
}

__global__ void count(int *data) {
    atomicAdd(data, 1); //~ ERROR not-permitted
}

int main() {
    domain = nvtxDomainCreateA("permissions");
    int *data = device<int>(32);
    int *result = device<int>(1);
    const uint32_t READ = NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ, WRITE = NVTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE,
                   ATOMIC = NVTX_MEM_PERMISSIONS_REGION_FLAGS_ATOMIC;
    allow(data, READ);
    read<<<1, 32>>>(data, result);
    allow(data, WRITE);
    write<<<1, 32>>>(data);
    allow(data, ATOMIC);
    count<<<1, 32>>>(data);
    allow(data, WRONG_OR_RIGHT(WRITE | ATOMIC, NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET));
    read<<<1, 32>>>(data, result);
    cudaDeviceSynchronize();
    allow(data, WRONG_OR_RIGHT(READ | ATOMIC, NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET));
    write<<<1, 32>>>(data);
    cudaDeviceSynchronize();
    allow(data, WRONG_OR_RIGHT(READ | WRITE, NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET));
    count<<<1, 32>>>(data);
    return finish();
}
