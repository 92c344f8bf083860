"""The few functions of the CUDA driver that scripts need to launch kernels of PTX, in a process under a tool."""

import ctypes
import sys


class Driver:
    """A device, with its primary context."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function, and ends the process if it fails."""
        error = getattr(self.library, name)(*arguments)
        if error:
            sys.exit(f"{name} failed: {error}")

    def load(self, text: bytes) -> ctypes.c_void_p:
        """A module."""
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), text + b"\0")
        return module

    def unload(self, module: ctypes.c_void_p) -> None:
        self.call("cuModuleUnload", module)

    def allocate(self, size: int) -> int:
        """The address of new memory."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def fill(self, address: int, byte: int, size: int) -> None:
        self.call("cuMemsetD8_v2", ctypes.c_uint64(address), byte, ctypes.c_size_t(size))

    def write(self, address: int, content: bytes) -> None:
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), content, ctypes.c_size_t(len(content)))

    def read(self, address: int, size: int) -> bytes:
        buffer = (ctypes.c_char * size)()
        self.call("cuMemcpyDtoH_v2", buffer, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return bytes(buffer)

    def free(self, address: int) -> None:
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def launch(self, module: ctypes.c_void_p, kernel: str, blocks: int, threads: int, *addresses: int) -> None:
        """Launches a kernel whose parameters are addresses."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        words = [ctypes.c_uint64(address) for address in addresses]
        parameters = (ctypes.c_void_p * len(words))(*map(ctypes.addressof, words))
        self.call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, None, parameters, None)

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize")
