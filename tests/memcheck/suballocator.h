// An allocator that takes from one allocation of CUDA, and says so through NVTX.
#include <nvtx3/nvToolsExtMem.h>

#include "memcheck.h"

struct Pool {
    char *start;
    size_t used = 0;
    nvtxDomainHandle_t domain = nvtxDomainCreateA("pool");
    nvtxMemHeapHandle_t heap;

    Pool(size_t bytes, const char *name) : start(device<char>(bytes)) {
        nvtxMemVirtualRangeDesc_t range = {bytes, start};
        nvtxMemHeapDesc_t description = {};
        description.extCompatID = NVTX_EXT_COMPATID_MEM;
        description.structSize = sizeof description;
        description.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
        description.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
        description.typeSpecificDescSize = sizeof range;
        description.typeSpecificDesc = &range;
        description.messageType = NVTX_MESSAGE_TYPE_ASCII;
        description.message.ascii = name;
        heap = nvtxMemHeapRegister(domain, &description);
        if (!heap) {
            printf("there is no tool\n");
            exit(1);
        }
    }

    void release() {
        nvtxMemHeapUnregister(domain, heap);
        OK(cudaFree(start));
    }

    // Without a gap to what was allocated before.
    template <typename T> T *allocate(size_t count, const char *name = nullptr) {
        nvtxMemVirtualRangeDesc_t range = {count * sizeof(T), start + used};
        used += range.size;
        nvtxMemRegionsRegisterBatch_t batch = {};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
        batch.heap = heap;
        batch.regionCount = 1;
        batch.regionDescElementSize = sizeof range;
        batch.regionDescElements = &range;
        nvtxMemRegionsRegister(domain, &batch);
        if (name)
            call(range.ptr, NVTX_MESSAGE_TYPE_ASCII, {name});
        return (T *)range.ptr;
    }

    void call(const void *region, uint32_t type, nvtxMessageValue_t name) {
        nvtxMemRegionNameDesc_t description = {};
        description.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER;
        description.nameType = type;
        description.region.pointer = region;
        description.name = name;
        nvtxMemRegionsNameBatch_t batch = {};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.regionCount = 1;
        batch.regionElementSize = sizeof description;
        batch.regionElements = &description;
        nvtxMemRegionsName(domain, &batch);
    }

    void resize(const void *region, size_t bytes) {
        nvtxMemVirtualRangeDesc_t range = {bytes, region};
        nvtxMemRegionsResizeBatch_t batch = {};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
        batch.regionDescCount = 1;
        batch.regionDescElementSize = sizeof range;
        batch.regionDescElements = &range;
        nvtxMemRegionsResize(domain, &batch);
    }

    void free(const void *region) {
        nvtxMemRegionRef_t reference;
        reference.pointer = region;
        nvtxMemRegionsUnregisterBatch_t batch = {};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
        batch.refCount = 1;
        batch.refElementSize = sizeof reference;
        batch.refElements = &reference;
        nvtxMemRegionsUnregister(domain, &batch);
    }
};
