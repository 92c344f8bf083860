// The properties of the device are possible ones, and agree with its attributes.

#include "../expect.h"
#include <cstring>

static int attribute(cudaDeviceAttr which) {
    int value = -1;
    OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

int main() {
    int count = 0, current = -1;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 1);
    OK(cudaGetDevice(&current));
    CHECK(current == 0);

    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    CHECK(strlen(properties.name) > 0);
    CHECK(properties.warpSize == 32);
    CHECK(properties.major >= 5);
    CHECK(properties.totalGlobalMem > 0);
    CHECK(properties.totalConstMem == 65536);
    CHECK(properties.multiProcessorCount >= 1);
    CHECK(properties.sharedMemPerBlock == 48 << 10);
    CHECK(properties.sharedMemPerBlockOptin >= properties.sharedMemPerBlock);
    CHECK(properties.unifiedAddressing == 1);
    CHECK(properties.managedMemory == 1);
    CHECK(properties.canMapHostMemory == 1);
    CHECK(properties.concurrentKernels == 1);
    CHECK(properties.cooperativeLaunch == 1);

    CHECK(properties.major == attribute(cudaDevAttrComputeCapabilityMajor));
    CHECK(properties.minor == attribute(cudaDevAttrComputeCapabilityMinor));
    CHECK(properties.warpSize == attribute(cudaDevAttrWarpSize));
    CHECK(properties.maxThreadsPerBlock == attribute(cudaDevAttrMaxThreadsPerBlock));
    CHECK(properties.maxThreadsDim[0] == attribute(cudaDevAttrMaxBlockDimX));
    CHECK(properties.maxThreadsDim[1] == attribute(cudaDevAttrMaxBlockDimY));
    CHECK(properties.maxThreadsDim[2] == attribute(cudaDevAttrMaxBlockDimZ));
    CHECK(properties.maxGridSize[0] == attribute(cudaDevAttrMaxGridDimX));
    CHECK(properties.maxGridSize[1] == attribute(cudaDevAttrMaxGridDimY));
    CHECK(properties.maxGridSize[2] == attribute(cudaDevAttrMaxGridDimZ));
    CHECK(properties.sharedMemPerBlock == (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlock));
    CHECK(properties.sharedMemPerBlockOptin == (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    CHECK(properties.sharedMemPerMultiprocessor == (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
    CHECK(properties.reservedSharedMemPerBlock == (size_t)attribute(cudaDevAttrReservedSharedMemoryPerBlock));
    CHECK(properties.regsPerBlock == attribute(cudaDevAttrMaxRegistersPerBlock));
    CHECK(properties.regsPerMultiprocessor == attribute(cudaDevAttrMaxRegistersPerMultiprocessor));
    CHECK(properties.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
    CHECK(properties.maxThreadsPerMultiProcessor == attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
    CHECK(properties.maxBlocksPerMultiProcessor == attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
    CHECK(properties.totalConstMem == (size_t)attribute(cudaDevAttrTotalConstantMemory));
    CHECK(properties.memPitch == (size_t)attribute(cudaDevAttrMaxPitch));
    CHECK(properties.textureAlignment == (size_t)attribute(cudaDevAttrTextureAlignment));
    CHECK(properties.texturePitchAlignment == (size_t)attribute(cudaDevAttrTexturePitchAlignment));
    CHECK(properties.surfaceAlignment == (size_t)attribute(cudaDevAttrSurfaceAlignment));
    CHECK(properties.asyncEngineCount == attribute(cudaDevAttrAsyncEngineCount));
    CHECK(properties.integrated == attribute(cudaDevAttrIntegrated));
    CHECK(properties.canMapHostMemory == attribute(cudaDevAttrCanMapHostMemory));
    CHECK(properties.unifiedAddressing == attribute(cudaDevAttrUnifiedAddressing));
    CHECK(properties.managedMemory == attribute(cudaDevAttrManagedMemory));
    CHECK(properties.concurrentManagedAccess == attribute(cudaDevAttrConcurrentManagedAccess));
    CHECK(properties.pageableMemoryAccess == attribute(cudaDevAttrPageableMemoryAccess));
    CHECK(properties.cooperativeLaunch == attribute(cudaDevAttrCooperativeLaunch));
    CHECK(properties.streamPrioritiesSupported == attribute(cudaDevAttrStreamPrioritiesSupported));
    CHECK(properties.memoryPoolsSupported == attribute(cudaDevAttrMemoryPoolsSupported));
    CHECK(properties.hostRegisterSupported == attribute(cudaDevAttrHostRegisterSupported));
    CHECK(properties.l2CacheSize == attribute(cudaDevAttrL2CacheSize));
    CHECK(properties.persistingL2CacheMaxSize == attribute(cudaDevAttrMaxPersistingL2CacheSize));
    CHECK(properties.accessPolicyMaxWindowSize == attribute(cudaDevAttrMaxAccessPolicyWindowSize));
    CHECK(properties.memoryBusWidth == attribute(cudaDevAttrGlobalMemoryBusWidth));
    CHECK(properties.maxTexture1D == attribute(cudaDevAttrMaxTexture1DWidth));
    CHECK(properties.maxTexture2D[0] == attribute(cudaDevAttrMaxTexture2DWidth));
    CHECK(properties.maxTexture2D[1] == attribute(cudaDevAttrMaxTexture2DHeight));
    CHECK(properties.maxTexture3D[2] == attribute(cudaDevAttrMaxTexture3DDepth));
    CHECK(properties.maxTexture2DLayered[2] == attribute(cudaDevAttrMaxTexture2DLayeredLayers));
    CHECK(properties.maxSurface2D[0] == attribute(cudaDevAttrMaxSurface2DWidth));
    CHECK(properties.pciBusID == attribute(cudaDevAttrPciBusId));
    CHECK(properties.pciDeviceID == attribute(cudaDevAttrPciDeviceId));
    CHECK(properties.pciDomainID == attribute(cudaDevAttrPciDomainId));

    size_t free_bytes = 0, total = 0;
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(total == properties.totalGlobalMem);
    return done();
}
