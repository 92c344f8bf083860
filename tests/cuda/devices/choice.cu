// Devices that are not there are refused, and those that are can be chosen, with flags and limits.

#include "../expect.h"

int main() {
    cudaDeviceProp properties;
    int value = 0;
    RETURNS(cudaErrorInvalidDevice, cudaSetDevice(1));
    RETURNS(cudaErrorInvalidDevice, cudaSetDevice(-1));
    RETURNS(cudaErrorInvalidDevice, cudaGetLastError());
    RETURNS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 5));
    RETURNS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 2));
    RETURNS(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
    OK(cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceMapHost));
    OK(cudaSetDevice(0));
    unsigned flags = 0;
    OK(cudaGetDeviceFlags(&flags));
    CHECK((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleYield);
    OK(cudaDeviceCanAccessPeer(&value, 0, 0));
    CHECK(value == 0);

    size_t bytes = 0;
    OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    CHECK(bytes > 0);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    CHECK(bytes >= 8192);
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    CHECK(bytes >= 4 << 20);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    CHECK(bytes >= 32 << 20);
    RETURNS(cudaErrorUnsupportedLimit, cudaDeviceSetLimit((cudaLimit)77, 1));

    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    int least = 1, greatest = 1;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest < 0);

    cudaDeviceProp wanted = {};
    int chosen = -1;
    OK(cudaChooseDevice(&chosen, &wanted));
    CHECK(chosen == 0);
    OK(cudaSetValidDevices(&chosen, 1));
    OK(cudaInitDevice(0, 0, 0));
    RETURNS(cudaErrorInvalidDevice, cudaInitDevice(3, 0, 0));
    OK(cudaDeviceReset());
    return done();
}
