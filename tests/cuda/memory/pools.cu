// Pools of memory count what is allocated from them, and keep to their limits.
// It uses a pool that it has destroyed, which memcheck finds.
//@ tools: repair rmt traffic

#include "../check.h"

static unsigned long long number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    unsigned long long value = ~0ull;
    CHECK(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

int main() {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaMemPool_t standard, current, own;
    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
    CHECK(cudaDeviceGetMemPool(&current, 0));
    REQUIRE(standard == current);

    void *one, *two;
    CHECK(cudaMallocAsync(&one, 1 << 20, stream));
    REQUIRE(number(standard, cudaMemPoolAttrUsedMemCurrent) == 1 << 20);
    REQUIRE(number(standard, cudaMemPoolAttrReservedMemCurrent) >= 1 << 20);
    CHECK(cudaMemsetAsync(one, 1, 1 << 20, stream));
    CHECK(cudaFreeAsync(one, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(number(standard, cudaMemPoolAttrUsedMemCurrent) == 0);
    REQUIRE(number(standard, cudaMemPoolAttrUsedMemHigh) == 1 << 20);
    unsigned long long zero = 0, threshold = ~0ull;
    CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &zero));
    REQUIRE(number(standard, cudaMemPoolAttrUsedMemHigh) == 0);
    CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
    REQUIRE(number(standard, cudaMemPoolAttrReleaseThreshold) == threshold);
    EXPECT(cudaMemPoolDestroy(standard), cudaErrorInvalidValue);

    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.maxSize = 1 << 20;
    CHECK(cudaMemPoolCreate(&own, &props));
    CHECK(cudaMallocFromPoolAsync(&one, 600 << 10, own, stream));
    EXPECT(cudaMallocFromPoolAsync(&two, 600 << 10, own, stream), cudaErrorMemoryAllocation);
    REQUIRE(number(own, cudaMemPoolAttrUsedMemCurrent) == 600 << 10);
    REQUIRE(number(standard, cudaMemPoolAttrUsedMemCurrent) == 0);
    CHECK(cudaFreeAsync(one, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDeviceSetMemPool(0, own));
    CHECK(cudaDeviceGetMemPool(&current, 0));
    REQUIRE(current == own);
    CHECK(cudaMallocAsync(&two, 100, stream));
    REQUIRE(number(own, cudaMemPoolAttrUsedMemCurrent) == 100);
    // What comes from a pool can be freed like any memory.
    CHECK(cudaFree(two));
    REQUIRE(number(own, cudaMemPoolAttrUsedMemCurrent) == 0);
    cudaMemLocation here = {};
    here.type = cudaMemLocationTypeDevice;
    cudaMemAccessFlags access;
    CHECK(cudaMemPoolGetAccess(&access, own, &here));
    REQUIRE(access == cudaMemAccessFlagsProtReadWrite);
    CHECK(cudaMemPoolTrimTo(own, 0));
    CHECK(cudaMemPoolDestroy(own));
    CHECK(cudaDeviceGetMemPool(&current, 0));
    REQUIRE(current == standard);
    EXPECT(cudaMallocFromPoolAsync(&one, 100, own, stream), cudaErrorInvalidResourceHandle);
    printf("PASS\n");
    return 0;
}
