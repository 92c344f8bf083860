// Memory is put behind reserved addresses piece by piece, and twice; without it they cannot be accessed.
//@ stderr: kernel `fill(int*, int)`: illegal address

#include "../check.h"

#include <cuda.h>

#define DRIVER(name)                                                                                       \
    static decltype(&name) find_##name() {                                                                 \
        void *function = nullptr;                                                                          \
        cudaDriverEntryPointQueryResult status;                                                            \
        CHECK(cudaGetDriverEntryPointByVersion(#name, &function, 12000, cudaEnableDefault, &status));      \
        REQUIRE(status == cudaDriverEntryPointSuccess);                                                    \
        return (decltype(&name))function;                                                                  \
    }
DRIVER(cuMemAddressReserve)
DRIVER(cuMemAddressFree)
DRIVER(cuMemCreate)
DRIVER(cuMemRelease)
DRIVER(cuMemMap)
DRIVER(cuMemUnmap)
DRIVER(cuMemSetAccess)
DRIVER(cuMemGetAccess)
DRIVER(cuMemGetAllocationGranularity)
DRIVER(cuMemRetainAllocationHandle)
DRIVER(cuMemGetAllocationPropertiesFromHandle)
DRIVER(cuDeviceGetAttribute)
#define CALL(name, ...) REQUIRE(find_##name()(__VA_ARGS__) == CUDA_SUCCESS)
#define REFUSED(name, ...) REQUIRE(find_##name()(__VA_ARGS__) == CUDA_ERROR_INVALID_VALUE)

__global__ void fill(int *values, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = i;
}

int main() {
    // A first launch, so that what it needs of memory is not counted.
    fill<<<1, 1>>>(nullptr, 0);
    CHECK(cudaDeviceSynchronize());
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t piece = 0, before, during, after, total;
    CALL(cuMemGetAllocationGranularity, &piece, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    REQUIRE(piece != 0);
    CHECK(cudaMemGetInfo(&before, &total));
    CUdeviceptr start;
    CALL(cuMemAddressReserve, &start, 4 * piece, 0, 0, 0);
    CUmemGenericAllocationHandle one, two;
    REFUSED(cuMemCreate, &one, 100, &prop, 0);
    CALL(cuMemCreate, &one, piece, &prop, 0);
    // Compression is granted: results do not depend on it.
    int has_compression = 0;
    CALL(cuDeviceGetAttribute, &has_compression, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 0);
    REQUIRE(has_compression == 1);
    CUmemAllocationProp compressible = prop, granted;
    compressible.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
    CALL(cuMemCreate, &two, piece, &compressible, 0);
    CALL(cuMemGetAllocationPropertiesFromHandle, &granted, two);
    REQUIRE(granted.allocFlags.compressionType == CU_MEM_ALLOCATION_COMP_GENERIC);
    CALL(cuMemGetAllocationPropertiesFromHandle, &granted, one);
    REQUIRE(granted.allocFlags.compressionType == CU_MEM_ALLOCATION_COMP_NONE);
    CHECK(cudaMemGetInfo(&during, &total));
    REQUIRE(before - during == 2 * piece);
    CALL(cuMemMap, start, piece, 0, one, 0);
    REFUSED(cuMemMap, start, piece, 0, two, 0);
    CALL(cuMemMap, start + piece, piece, 0, two, 0);
    // The first piece has another address, too.
    CALL(cuMemMap, start + 3 * piece, piece, 0, one, 0);

    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    EXPECT(cudaMemset((void *)start, 0, 4), cudaErrorInvalidValue);
    CALL(cuMemSetAccess, start, 2 * piece, &access, 1);
    CALL(cuMemSetAccess, start + 3 * piece, piece, &access, 1);
    REFUSED(cuMemSetAccess, start + 2 * piece, piece, &access, 1);
    unsigned long long flags = 0;
    CALL(cuMemGetAccess, &flags, &access.location, start + 100);
    REQUIRE(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

    // Kernels and copies do not see where the pieces meet.
    int count = 2 * piece / sizeof(int), out[4];
    fill<<<1, 256>>>((int *)start, count);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(out, (int *)start + count / 2 - 2, sizeof(out), cudaMemcpyDeviceToHost));
    REQUIRE(out[0] == count / 2 - 2 && out[3] == count / 2 + 1);
    CHECK(cudaMemcpy(out, (int *)(start + 3 * piece) + 11, sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(out[0] == 11);
    EXPECT(cudaMemcpy(out, (void *)(start + 2 * piece - 4), 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT(cudaFree((void *)start), cudaErrorInvalidValue);

    // Memory is there as long as it has an address or a handle.
    CALL(cuMemRelease, one);
    CALL(cuMemRelease, two);
    REQUIRE(find_cuMemRelease()(two) != CUDA_SUCCESS);
    CALL(cuMemUnmap, start, 2 * piece);
    CHECK(cudaMemcpy(out, (int *)(start + 3 * piece) + 11, sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(out[0] == 11);
    CUmemGenericAllocationHandle again;
    CALL(cuMemRetainAllocationHandle, &again, (void *)(start + 3 * piece));
    REQUIRE(again == one);
    REFUSED(cuMemAddressFree, start, 4 * piece);
    CALL(cuMemUnmap, start + 3 * piece, piece);
    CALL(cuMemRelease, again);
    CHECK(cudaMemGetInfo(&after, &total));
    REQUIRE(after == before);

    // What is not there any more is no memory to a kernel.
    fill<<<1, 1>>>((int *)start, 1);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    CALL(cuMemAddressFree, start, 4 * piece);
    printf("PASS\n");
    return 0;
}
