// What is allocated from a heap of the program's own is undefined, also if the heap was written; what the program says to be
// defined is.
//@ headers: nvtx
#include <nvtx3/nvToolsExtMemCudaRt.h>

#include "suballocator.h"

__global__ void fill(int *data) { data[threadIdx.x] = threadIdx.x; }

__global__ void count(const int *data, int *out) {
    if (data[threadIdx.x] > 3) //~ ERROR undefined-branch
        atomicAdd(out, 1);
}

__global__ void count_marked(const int *data, int *out) {
    if (data[threadIdx.x] > 3)
        atomicAdd(out, 1);
}

static void mark_defined(nvtxDomainHandle_t domain, void *pointer, size_t bytes) {
    nvtxMemVirtualRangeDesc_t range = {bytes, pointer};
    nvtxMemMarkInitializedBatch_t batch = {};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    batch.regionDescCount = 1;
    batch.regionDescElementSize = sizeof range;
    batch.regionDescElements = &range;
    nvtxMemCudaMarkInitialized(domain, 0, 0, &batch);
}

int main() {
    Pool pool(1024, "pool");
    int *first = pool.allocate<int>(32), *second = pool.allocate<int>(32), *marked = pool.allocate<int>(32);
    int *out = device<int>(1);
    fill<<<1, 32>>>(first);
    if (WRONG_OR_RIGHT(0, 1))
        fill<<<1, 32>>>(second);
    mark_defined(pool.domain, marked, 128);
    count_marked<<<1, 32>>>(first, out);
    count_marked<<<1, 32>>>(marked, out);
    count<<<1, 32>>>(second, out);
    return finish();
}
