// Hints that a program gives to a stream can be asked for and copied.

#include "../check.h"

int main() {
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithPriority(&one, cudaStreamNonBlocking, -2));
    CHECK(cudaStreamCreate(&two));
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
