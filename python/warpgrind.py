"""What a Python program can ask of Warpgrind's tools, as `warpgrind/requests.h` is for C++.

    import warpgrind
    warpgrind.mark_defined(array)

An array is one of Numba, CuPy or PyTorch, or whatever else has `__cuda_array_interface__`; a pointer is a number, with how many
bytes are meant. Where no tool is at work, nothing happens.

Kernels of Numba ask by functions that they call:

    @cuda.jit
    def kernel(data):
        warpgrind.checks_off()
        data[0] += 1
        warpgrind.checks_on()
"""

import ctypes
import os

__all__ = [
    "benign_race",
    "checks_off",
    "checks_on",
    "is_at_work",
    "mark_accessible",
    "mark_defined",
    "mark_no_access",
    "mark_undefined",
]

_request = None


def _load():
    """The function of the library that Warpgrind has NVTX load; without one, a function that does nothing."""
    path = os.environ.get("NVTX_INJECTION64_PATH")
    try:
        function = ctypes.CDLL(path).warpgrind_request if path else None
    except (OSError, AttributeError):
        function = None
    if function is None:
        return lambda what, pointer, size: 0
    function.argtypes = [ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t]
    function.restype = ctypes.c_uint
    return function


def _ask(what, array, size=0):
    global _request
    if _request is None:
        _request = _load()
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return _request(what, array, size)
    pointer, shape = interface["data"][0], interface["shape"]
    size = int(interface["typestr"][2:])
    strides = interface.get("strides")
    if 0 in shape:
        size = 0
    elif strides:
        # From the first to the last element, whatever is between them.
        for count, stride in zip(shape, strides):
            size += (count - 1) * abs(stride)
            pointer += (count - 1) * min(stride, 0)
    else:
        for count in shape:
            size *= count
    return _request(what, pointer, size)


def is_at_work():
    """Whether a tool of Warpgrind is at work; known once CUDA is in use."""
    return _ask(0, None) == 1


def mark_defined(array, size=0):
    """What is there counts as written."""
    _ask(1, array, size)


def mark_undefined(array, size=0):
    """What is there counts as never written."""
    _ask(2, array, size)


def mark_no_access(array):
    """Nobody may access the allocation, until `mark_accessible`."""
    _ask(3, array)


def mark_accessible(array):
    """Everybody may access the allocation again."""
    _ask(4, array)


def benign_race(array, size=0):
    """racecheck reports no race there."""
    _ask(5, array, size)


def __getattr__(name):
    """Functions for kernels are made when somebody asks for them, since they need Numba."""
    if name not in ("checks_off", "checks_on"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    def emit(value):
        text = f"{{ .reg .b32 warpgrind_checks; mov.b32 warpgrind_checks, {value}; }}"

        def typed(typing_context):
            def generate(context, builder, signature, arguments):
                asm = ir.InlineAsm(ir.FunctionType(ir.VoidType(), []), text, "~{memory}", side_effect=True)
                builder.call(asm, [])
                return context.get_dummy_value()

            return types.void(), generate

        return intrinsic(typed)

    globals()["checks_off"], globals()["checks_on"] = emit(0), emit(1)
    return globals()[name]
