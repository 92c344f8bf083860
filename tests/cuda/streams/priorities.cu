// Streams have priorities within the range of the device, flags, and numbers of their own.
// It uses what it has destroyed, which memcheck finds.
//@ tools: repair rmt traffic

#include "../expect.h"

int main() {
    int least = 9, greatest = 9, priority = 9;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest < 0);
    cudaStream_t high, low, plain;
    OK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    OK(cudaStreamGetPriority(high, &priority));
    CHECK(priority == greatest);
    OK(cudaStreamCreateWithPriority(&low, 0, 1000)); // Beyond the range: the nearest.
    OK(cudaStreamGetPriority(low, &priority));
    CHECK(priority == least);
    OK(cudaStreamCreate(&plain));
    unsigned flags = 9;
    OK(cudaStreamGetFlags(high, &flags));
    CHECK(flags == cudaStreamNonBlocking);
    OK(cudaStreamGetFlags(plain, &flags));
    CHECK(flags == cudaStreamDefault);
    unsigned long long first = 0, second = 0;
    OK(cudaStreamGetId(high, &first));
    OK(cudaStreamGetId(low, &second));
    CHECK(first != second);
    RETURNS(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&plain, 0x55));
    RETURNS(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
    OK(cudaStreamDestroy(high));
    OK(cudaStreamDestroy(low));
    RETURNS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(low));
    OK(cudaGetLastError() == cudaErrorInvalidResourceHandle ? cudaSuccess : cudaErrorUnknown);
    int device = 9;
    OK(cudaStreamGetDevice(plain, &device));
    CHECK(device == 0);
    return done();
}
