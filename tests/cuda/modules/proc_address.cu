// Functions of the driver are found by name and version, through the driver and through the runtime.
//@ build: -lcuda

#include "../expect.h"
#include <cuda.h>

int main() {
    DRIVER_OK(cuInit(0));
    void *function = nullptr, *old = nullptr, *per_thread = nullptr;
    CUdriverProcAddressQueryResult status;
    DRIVER_OK(cuGetProcAddress("cuDriverGetVersion", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);
    int version = 0;
    DRIVER_OK(((CUresult(*)(int *))function)(&version));
    CHECK(version >= 13000);

    // The newest version that is not newer than the one asked for.
    DRIVER_OK(cuGetProcAddress("cuMemAlloc", &old, 2000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    DRIVER_OK(cuGetProcAddress("cuMemAlloc", &function, 3020, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(function != nullptr && function != old);
    DRIVER_OK(cuGetProcAddress("cuMemAlloc", &old, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(function == old);

    // Not yet there in that version.
    function = &version;
    cuGetProcAddress("cuLibraryLoadData", &function, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    CHECK(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    CHECK(function == nullptr);
    cuGetProcAddress("cuNoSuchFunction", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    CHECK(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);

    DRIVER_OK(cuGetProcAddress("cuLaunchKernel", &function, 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status));
    DRIVER_OK(cuGetProcAddress("cuLaunchKernel", &per_thread, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    CHECK(function != per_thread);
    // The look-up itself is found, too.
    DRIVER_OK(cuGetProcAddress("cuGetProcAddress", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(function != nullptr);

    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuCtxSynchronize", &function, 12000, cudaEnableDefault, &found));
    CHECK(found == cudaDriverEntryPointSuccess && function != nullptr);
    cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 12000, cudaEnableDefault, &found);
    CHECK(found == cudaDriverEntryPointSymbolNotFound && function == nullptr);
    return done();
}
