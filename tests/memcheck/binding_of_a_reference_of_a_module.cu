//@ build: -lcuda -Wno-deprecated-declarations
#include "memcheck.h"
#include <cuda.h>

// 8 MB of an allocation of 4, bound by the driver.
static const char *text = ".version 7.0\n.target sm_70\n.address_size 64\n.global .texref image;\n";

int main() {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUtexref image;
    CUdeviceptr data;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    cuModuleLoadData(&module, text);
    cuModuleGetTexRef(&image, module, "image");
    cuMemAlloc(&data, 4 << 20);
    cuTexRefSetFormat(image, CU_AD_FORMAT_FLOAT, 1);
    size_t offset;
    cuTexRefSetAddress(&offset, image, data, WRONG_OR_RIGHT(8 << 20, 4 << 20)); //~ ERROR invalid-binding
    return finish();
}
