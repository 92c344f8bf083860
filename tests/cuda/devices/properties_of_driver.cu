// What the driver says of the device is what the runtime says.
//@ build: -lcuda

#include "../expect.h"
#include <cstring>
#include <cuda.h>

int main() {
    int value = 0;
    CUdevice device;
    RETURNS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&value));
    RETURNS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGetCount(&value));
    CHECK(value == 1);
    RETURNS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
    RETURNS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuDeviceGet(nullptr, 0));
    DRIVER_OK(cuDeviceGet(&device, 0));

    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    char name[256], short_name[5];
    DRIVER_OK(cuDeviceGetName(name, sizeof name, device));
    CHECK(strcmp(name, properties.name) == 0);
    DRIVER_OK(cuDeviceGetName(short_name, sizeof short_name, device));
    CHECK(strlen(short_name) == 4 && strncmp(name, short_name, 4) == 0);

    size_t bytes = 0;
    DRIVER_OK(cuDeviceTotalMem(&bytes, device));
    CHECK(bytes == properties.totalGlobalMem);
    CUuuid uuid;
    DRIVER_OK(cuDeviceGetUuid(&uuid, device));
    CHECK(memcmp(&uuid, &properties.uuid, sizeof uuid) == 0);
    DRIVER_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(value == properties.major);
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, (CUdevice_attribute)0, device));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, device));
    RETURNS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 7));

    char bus[20], bus_of_runtime[20];
    CUdevice by_bus = 99;
    DRIVER_OK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
    OK(cudaDeviceGetPCIBusId(bus_of_runtime, sizeof bus_of_runtime, 0));
    CHECK(strcmp(bus, bus_of_runtime) == 0);
    DRIVER_OK(cuDeviceGetByPCIBusId(&by_bus, bus));
    CHECK(by_bus == device);
    CHECK(cuDeviceGetByPCIBusId(&by_bus, "ffff:ff:1f.7") != CUDA_SUCCESS);

    int driver = 0, runtime = 0, of_runtime = 0;
    DRIVER_OK(cuDriverGetVersion(&driver));
    OK(cudaDriverGetVersion(&of_runtime));
    OK(cudaRuntimeGetVersion(&runtime));
    CHECK(driver == of_runtime);
    CHECK(driver >= runtime && runtime >= CUDART_VERSION);
    return done();
}
