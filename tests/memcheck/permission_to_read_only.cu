// What may be read and not be written is read first: the same element, in the same piece of code.
//@ headers: nvtx
//@ flags: --on-error continue
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>

#include "memcheck.h"

static void allow(nvtxDomainHandle_t domain, const void *pointer, uint32_t flags) {
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

__global__ void increment(int *data) {
    data[threadIdx.x] += 1; //~ ERROR not-permitted
}

// The pointer comes from memory.
__global__ void increment_through(int **pointers) {
    pointers[0][threadIdx.x] += 1; //~ ERROR not-permitted
}

// Perhaps not aligned.
__global__ void increment_at(int *data, int bytes) {
    *(int *)((char *)data + bytes) += 1; //~ ERROR not-permitted
}

int main() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("permissions");
    int *data = device<int>(32), **pointers = device<int *>(1);
    OK(cudaMemcpy(pointers, &data, sizeof data, cudaMemcpyHostToDevice));
    const uint32_t READ = NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ, WRITE = NVTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE;
    allow(domain, data, WRONG_OR_RIGHT(READ, READ | WRITE));
    increment<<<1, 32>>>(data);
    increment_through<<<1, 32>>>(pointers);
    increment_at<<<1, 1>>>(data, 8);
    return finish();
}
