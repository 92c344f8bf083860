# A child that is killed in the middle of a kernel, and a parent that does not care. Repaired, the child is done before.
#@ exit: 87
import ctypes
import os
import signal

KERNEL = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry wait(.param .u64 words)
{
    .reg .b32 %r1;
    .reg .b64 %rd1;
    .reg .pred %p;
    ld.param.u64 %rd1, [words];
    st.volatile.global.u32 [%rd1], 1;
again:
    ld.volatile.global.u32 %r1, [%rd1+4];
    setp.eq.u32 %p, %r1, 0;
    @%p bra again;
    ret;
}
"""


def check(result):
    if result != 0:
        raise RuntimeError(f"CUDA error {result}")


def child(ready):
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, module, kernel = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device))
    check(cuda.cuModuleLoadData(ctypes.byref(module), KERNEL))
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"wait"))
    words = ctypes.c_void_p()
    check(cuda.cuMemAllocHost_v2(ctypes.byref(words), ctypes.c_size_t(8)))
    has_begun, may_end = (ctypes.c_uint32.from_address(words.value + offset) for offset in (0, 4))
    has_begun.value = may_end.value = 0
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(words))
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, parameters, None))
    while has_begun.value == 0:
        pass
    if "FIXED" in os.environ:
        may_end.value = 1
        check(cuda.cuCtxSynchronize())
    os.write(ready, b"!")
    signal.pause()


def main():
    is_ready, ready = os.pipe()
    process = os.fork()
    if process == 0:
        child(ready)
    os.read(is_ready, 1)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


if __name__ == "__main__":
    main()
