// Hints that a program gives to a stream can be asked for and copied.

#include "../check.h"

int main() {
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithPriority(&one, cudaStreamNonBlocking, -2));
    CHECK(cudaStreamCreate(&two));
    // The device is of a kind that has such hints: programs ask for it before they give them.
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    REQUIRE(properties.persistingL2CacheMaxSize > 0);
    REQUIRE(properties.persistingL2CacheMaxSize <= properties.l2CacheSize);
    REQUIRE(properties.accessPolicyMaxWindowSize >= 4096);
    CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, properties.persistingL2CacheMaxSize));
    size_t limit = 0;
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
    REQUIRE(limit == (size_t)properties.persistingL2CacheMaxSize);
    cudaStreamAttrValue value = {};
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitRatio = 0.5f;
    CHECK(cudaStreamSetAttribute(one, cudaStreamAttributeAccessPolicyWindow, &value));
    cudaStreamAttrValue read = {};
    CHECK(cudaStreamGetAttribute(one, cudaStreamAttributeAccessPolicyWindow, &read));
    REQUIRE(read.accessPolicyWindow.num_bytes == 4096 && read.accessPolicyWindow.hitRatio == 0.5f);
    CHECK(cudaStreamGetAttribute(two, cudaStreamAttributeAccessPolicyWindow, &read));
    REQUIRE(read.accessPolicyWindow.num_bytes == 0);
    CHECK(cudaStreamCopyAttributes(two, one));
    CHECK(cudaStreamGetAttribute(two, cudaStreamAttributeAccessPolicyWindow, &read));
    REQUIRE(read.accessPolicyWindow.num_bytes == 4096);
    CHECK(cudaStreamGetAttribute(one, cudaStreamAttributePriority, &read));
    REQUIRE(read.priority == -2);
    int is_supported;
    EXPECT(cudaDeviceGetP2PAttribute(&is_supported, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidDevice);
    printf("PASS\n");
    return 0;
}
