# A Python program asks the same of the tools as one in C, by ctypes: Numba's and CuPy's arrays have their pointers.
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))
import warpgrind

KERNEL = b"""
.version 7.0
.target sm_70
.address_size 64
.file 1 "python_requests.py"
.visible .entry count(.param .u64 data, .param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    .reg .pred %p;
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd4, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    .loc 1 27 5
    setp.gt.s32 %p, %r2, 3;
    @!%p bra END;                  // ~ ERROR undefined-branch
    red.global.add.u32 [%rd4], 1;
END:
    ret;
}
"""

cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result != 0:
        raise RuntimeError(f"CUDA error {result}")


class Array:
    """As those of Numba and CuPy say where they are."""

    def __init__(self, count):
        self.pointer, self.count = ctypes.c_uint64(), count
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.pointer), ctypes.c_size_t(4 * count)))
        check(cuda.cuMemsetD32_v2(self.pointer, 0, ctypes.c_size_t(count)))

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.pointer.value, False), "shape": (2, self.count // 2), "typestr": "<i4", "version": 3}


def main():
    device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device))
    check(cuda.cuModuleLoadData(ctypes.byref(module), KERNEL))
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"count"))
    data, out = Array(64), Array(1)
    warpgrind.mark_undefined(data)
    warpgrind.mark_defined(data.pointer.value, 256 if "FIXED" in os.environ else 252)
    parameters = (ctypes.c_void_p * 2)(ctypes.addressof(data.pointer), ctypes.addressof(out.pointer))
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, parameters, None))
    check(cuda.cuCtxSynchronize())
    print("at work:", warpgrind.is_at_work())


if __name__ == "__main__":
    main()
