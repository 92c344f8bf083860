//@ bugs: frees and copies what is not there
// Each kind of memory says what it is, and host and device reach it as they should.
//@ variants: static shared ptds clang

#include "../expect.h"

__device__ int variable;
__global__ void increment(int *p) { *p += 1; }

static void kind(const void *p, cudaMemoryType type, bool has_device, bool has_host, int line) {
    cudaPointerAttributes attributes;
    cudaError_t error = cudaPointerGetAttributes(&attributes, p);
    bool right = error == cudaSuccess && attributes.type == type && (attributes.devicePointer != nullptr) == has_device &&
                 (attributes.hostPointer != nullptr) == has_host;
    if (!right) {
        printf("line %d: error %d, type %d, device pointer %p, host pointer %p\n", line, error, attributes.type,
               attributes.devicePointer, attributes.hostPointer);
        failed_checks++;
    }
}

int main() {
    int *device, *managed, *pinned, *mapped, *seen;
    int *plain = (int *)malloc(8192);
    OK(cudaMalloc(&device, 4));
    kind(device, cudaMemoryTypeDevice, true, false, __LINE__);
    OK(cudaMallocManaged(&managed, 100));
    kind(managed + 1, cudaMemoryTypeManaged, true, true, __LINE__);
    OK(cudaMallocHost(&pinned, 4));
    kind(pinned, cudaMemoryTypeHost, true, true, __LINE__);
    OK(cudaHostAlloc(&mapped, 4, cudaHostAllocMapped | cudaHostAllocPortable | cudaHostAllocWriteCombined));
    kind(mapped, cudaMemoryTypeHost, true, true, __LINE__);
    kind(plain, cudaMemoryTypeUnregistered, false, true, __LINE__);
    void *address;
    OK(cudaGetSymbolAddress(&address, variable));
    kind(address, cudaMemoryTypeDevice, true, false, __LINE__);

    OK(cudaHostRegister(plain, 8192, cudaHostRegisterMapped));
    kind(plain, cudaMemoryTypeHost, true, true, __LINE__);
    RETURNS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(plain, 8192, 0));
    *plain = 10;
    OK(cudaHostGetDevicePointer(&seen, plain, 0));
    increment<<<1, 1>>>(seen);
    OK(cudaDeviceSynchronize());
    CHECK(*plain == 11);
    OK(cudaHostUnregister(plain));
    RETURNS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(plain));
    kind(plain, cudaMemoryTypeUnregistered, false, true, __LINE__);

    *managed = 20;
    increment<<<1, 1>>>(managed);
    OK(cudaDeviceSynchronize());
    CHECK(*managed == 21);
    *pinned = 30;
    increment<<<1, 1>>>(pinned);
    OK(cudaDeviceSynchronize());
    CHECK(*pinned == 31);
    *mapped = 40;
    OK(cudaHostGetDevicePointer(&seen, mapped, 0));
    increment<<<1, 1>>>(seen);
    OK(cudaDeviceSynchronize());
    CHECK(*mapped == 41);
    unsigned flags = 0;
    OK(cudaHostGetFlags(&flags, mapped));
    CHECK((flags & cudaHostAllocWriteCombined) && (flags & cudaHostAllocPortable));
    RETURNS(cudaErrorInvalidValue, cudaHostGetDevicePointer(&seen, &flags, 0));
    RETURNS(cudaErrorInvalidValue, cudaHostAlloc(&mapped, 4, 0x1000));

    cudaMemLocation location = {cudaMemLocationTypeDevice, 0};
    OK(cudaMemAdvise(managed, 100, cudaMemAdviseSetReadMostly, location));
    OK(cudaMemPrefetchAsync(managed, 100, location, 0, nullptr));
    RETURNS(cudaErrorInvalidValue, cudaMallocManaged(&managed, 0));
    OK(cudaFree(device));
    OK(cudaFreeHost(pinned));
    RETURNS(cudaErrorInvalidValue, cudaFreeHost(pinned));
    return done();
}
