# A Python program that calls the driver by ctypes, as Numba does. Calls of Python are in the report, those of the
# interpreter are not.
import ctypes
import os

KERNEL = b"""
.version 7.0
.target sm_70
.address_size 64
.file 1 "python_program.py"
.visible .entry fill(.param .u64 data, .param .u32 count)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    .reg .pred %p;
    .loc 1 21 5
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %tid.x;
    // data[i] = i
    .loc 1 22 5
    setp.ge.u32 %p, %r2, %r1;   // ~ ERROR out-of-bounds
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    @!%p st.global.u32 [%rd3], %r2;
    ret;
}
"""

cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result != 0:
        raise RuntimeError(f"CUDA error {result}")


class Array:
    def __init__(self, count):
        self.pointer = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.pointer), ctypes.c_size_t(4 * count)))

    def free(self):
        check(cuda.cuMemFree_v2(self.pointer))


def launch(kernel, array, count):
    count = ctypes.c_uint32(count)
    parameters = (ctypes.c_void_p * 2)(ctypes.addressof(array.pointer), ctypes.addressof(count))
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, parameters, None))


def main():
    device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device))
    check(cuda.cuModuleLoadData(ctypes.byref(module), KERNEL))
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"fill"))
    array = Array(60)
    for count in [60, 60 if "FIXED" in os.environ else 62]:
        launch(kernel, array, count)
    cuda.cuCtxSynchronize()


if __name__ == "__main__":
    main()
