"""Numba kernels of our own, compiled to PTX without a GPU.

Called by numba_part.py as `numba_kernels.py DIRECTORY name.arch[.variant].ptx ...`, in the toolchain's
Python, and with one architecture only, because Numba keeps compiled functions without regard to it.
"""

import math
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numba.cuda.dispatcher
import numpy as np
from numba import boolean, complex64, cuda, float32, float64, int8, int16, int32, int64, uint8, uint32, uint64, void
from numba.cuda.types import float16

warnings.simplefilter("ignore")  # Numba has an opinion on debug information without optimization

# name -> (function, signature, kind), where kind says whether it is a kernel or a device function
KERNELS = {}


def kernel(*types):
    def enter(function):
        KERNELS[function.__name__] = (function, void(*types), False)
        return function

    return enter


@kernel(float32[:], float32[:], float32[:], float32)
def saxpy(x, y, out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@kernel(float64[:, ::1], float64[:, ::1], float64[:, ::1])
def matmul_shared(a, b, c):
    left = cuda.shared.array((16, 16), float64)
    right = cuda.shared.array((16, 16), float64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for step in range(a.shape[1] // 16):
        left[tx, ty] = a[x, ty + step * 16]
        right[tx, ty] = b[tx + step * 16, y]
        cuda.syncthreads()
        for k in range(16):
            total += left[tx, k] * right[k, ty]
        cuda.syncthreads()
    c[x, y] = total


@kernel(float32[::1], float32[::1])
def dynamic_shared(x, out):
    buffer = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    buffer[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if t < s:
            buffer[t] += buffer[t + s]
        cuda.syncthreads()
        s //= 2
    if t == 0:
        out[cuda.blockIdx.x] = buffer[0]


@kernel(int32[:], uint32[:], int64[:], uint64[:], float32[:], float64[:])
def atomics(i32, u32, i64, u64, f32, f64):
    i = cuda.grid(1)
    cuda.atomic.add(i32, i % 4, 1)
    cuda.atomic.add(f32, 0, f32[i])
    cuda.atomic.add(f64, 0, f64[i])
    cuda.atomic.sub(u32, 1, uint32(i))
    cuda.atomic.max(f64, 1, f64[i])
    cuda.atomic.min(i64, 2, i64[i])
    cuda.atomic.max(u64, 2, u64[i])
    cuda.atomic.nanmax(f32, 3, f32[i])
    cuda.atomic.and_(u32, 3, u32[i])
    cuda.atomic.or_(u64, 3, u64[i])
    cuda.atomic.xor(i32, 3, i32[i])
    cuda.atomic.inc(u32, 4, uint32(7))
    cuda.atomic.dec(u32, 5, uint32(7))
    cuda.atomic.exch(i64, 4, i64[i])
    cuda.atomic.cas(i32, 5, int32(0), int32(1))
    cuda.atomic.compare_and_swap(u64[6:], uint64(0), uint64(1))


@kernel(float32[:], float64[:], float64[:])
def math_functions(x, d, out):
    i = cuda.grid(1)
    v, w = x[i], d[i]
    total = math.sin(v) + math.cos(v) + math.tan(v) + math.exp(v) + math.log(v) + math.sqrt(v) + math.pow(v, w)
    total += math.atan2(w, 2.0) + math.erf(w) + math.gamma(w) + math.lgamma(w) + math.log1p(w) + math.hypot(v, w)
    total += math.sinh(w) + math.acosh(w) + math.fmod(w, 3.0) + math.floor(w) + math.ceil(v) + math.copysign(v, w)
    total += cuda.fma(w, w, w) + cuda.cbrt(w) + math.fabs(w)
    out[i] = total


@kernel(float32[:], float32[:])
def fast_math(x, out):
    i = cuda.grid(1)
    out[i] = math.sin(x[i]) / math.exp(x[i]) + math.sqrt(x[i]) + math.log2(x[i]) + x[i] ** 2.5


@kernel(float16[:], float16[:], float16)
def half_precision(x, y, a):
    i = cuda.grid(1)
    v = cuda.fp16.hfma(x[i], a, y[i])
    v = cuda.fp16.hmax(v, cuda.fp16.hneg(x[i])) + cuda.fp16.hsqrt(cuda.fp16.habs(v))
    y[i] = v * x[i] if v > a else v - x[i]


@kernel(float32[:, :])
def grid_sync(x):
    grid = cuda.cg.this_grid()
    column = cuda.grid(1)
    for row in range(1, x.shape[0]):
        x[row, column] = x[row - 1, x.shape[1] - column - 1] + 1
        grid.sync()


@kernel(int32[:], int64[:], float64[:])
def local_arrays(x, out, f):
    i = cuda.grid(1)
    buffer = cuda.local.array(32, int64)
    table = cuda.local.array((4, 4), float64)
    for j in range(32):
        buffer[j] = x[(i + j) % x.size]
    for j in range(16):
        table[j // 4, j % 4] = f[j]
    out[i] = buffer[x[i] & 31]
    f[i] = table[x[i] & 3, i & 3]


@kernel(int32[:], float32[:], int64[:])
def shuffles_votes(x, f, out):
    i = cuda.grid(1)
    mask = 0xFFFFFFFF
    v = cuda.shfl_sync(mask, x[i], 0)
    v += cuda.shfl_up_sync(mask, x[i], 1)
    w = cuda.shfl_down_sync(mask, f[i], 2)
    w += cuda.shfl_xor_sync(mask, f[i], 4)
    if cuda.all_sync(mask, v > 0) or cuda.any_sync(mask, v < 0) or cuda.eq_sync(mask, v == 1):
        v += cuda.ballot_sync(mask, v & 1)
    v += cuda.match_any_sync(mask, x[i])
    m, p = cuda.match_all_sync(mask, x[i])
    v += m + cuda.activemask() + cuda.lanemask_lt()
    cuda.syncwarp()
    out[i] = v + p
    f[i] = w


@cuda.jit(device=True)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@cuda.jit(device=True)
def clamp(v, low, high):
    return min(max(v, low), high)


@kernel(int64[:], int64[:])
def device_functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = clamp(collatz(x[i]), 0, 1000)


@kernel(uint32[:], uint64[:])
def integer_intrinsics(x, y):
    i = cuda.grid(1)
    x[i] = cuda.popc(x[i]) + cuda.clz(x[i]) + cuda.ffs(x[i]) + cuda.brev(x[i]) + cuda.selp(x[i] > 3, x[i], x[0])
    y[i] = cuda.popc(y[i]) + cuda.clz(y[i]) + cuda.brev(y[i]) + y[i] // uint64(7) + y[i] % uint64(11)


@kernel(int32[:], int32[:])
def barriers_fences(x, out):
    i = cuda.grid(1)
    n = cuda.syncthreads_count(int32(x[i] > 0))
    n += cuda.syncthreads_and(int32(x[i] > 1))
    n += cuda.syncthreads_or(int32(x[i] > 2))
    cuda.threadfence_block()
    cuda.threadfence()
    cuda.threadfence_system()
    cuda.nanosleep(uint32(100))
    out[i] = n + cuda.laneid + cuda.warpsize + cuda.gridDim.y * cuda.blockIdx.z


TABLE = np.arange(64, dtype=np.float32).reshape(8, 8) ** 2


@kernel(float32[:], int32)
def constant_array(out, k):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    out[i] = table[i % 8, k]


@kernel(complex64[:], complex64[:], boolean[:], int8[:], uint8[:], int16[:])
def other_types(a, b, c, d, e, f):
    i = cuda.grid(1)
    if c[i]:
        a[i] = a[i] * b[i] / (a[i] + 1j)
    d[i] = e[i] * f[i]
    f[i] = d[i] >> 2


@kernel(int32[:], int32)
def print_values(x, n):
    i = cuda.grid(1)
    print("value", i, x[i], n, 1.5)


@kernel(int32[:], int32[:])
def raises(x, out):
    i = cuda.grid(1)
    if x[i] == 0:
        raise ValueError("zero")
    assert x[i] > 0
    out[i] = out[i] // x[i]


@kernel(float32[:], float32[:, :, :], float32)
def strided(out, x, limit):
    i, j, k = cuda.grid(3)
    sx, sy, sz = cuda.gridsize(3)
    while i < x.shape[0]:
        if x[i, j, k] > limit:
            out[(i * 31 + j) % out.size] += x[i, j, k]
        elif x[i, j, k] < -limit:
            out[0] = x[-1, -1, -1]
        i += sx


RECORD = np.dtype([("key", np.int16), ("value", np.float64), ("items", np.int32, (3,))], align=True)


def enter_record_kernel():
    from numba import from_dtype

    def records(x, out):
        i = cuda.grid(1)
        out[i].value = x[i].value + x[i].key
        for j in range(3):
            out[i].items[j] = x[i].items[2 - j]

    record = from_dtype(RECORD)
    KERNELS["records"] = (records, void(record[:], record[:]), False)


def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


# A device function by itself: a module without a kernel, for linking.
KERNELS["device_only"] = (hypotenuse, float64(float64, float64), True)


def main() -> None:
    directory = Path(sys.argv[1])
    enter_record_kernel()
    for filename in sys.argv[2:]:
        words = filename.split(".")
        name, arch, variant = words[0], words[1], words[2] if len(words) == 4 else ""
        number = int(arch.removeprefix("sm_"))
        capability = (number // 10, number % 10)
        options = {"fastmath": name == "fast_math"}
        if variant == "debug":
            options.update(debug=True, opt=False)
        elif variant == "lineinfo":
            options.update(lineinfo=True)
        # Numba asks the GPU in the machine which architecture to compile called functions for, even if
        # the caller is compiled for a given one. This answers in the place of a GPU.
        numba.cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
        try:
            function, signature, device = KERNELS[name]
            text, _ = cuda.compile_ptx(function, signature, cc=capability, device=device, **options)
            (directory / filename).write_text(text.rstrip("\0"))
            print("ok", filename, flush=True)
        except Exception as error:  # one refused kernel must not hide the others
            lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
            print("failed", filename, f"{type(error).__name__}: {' '.join(lines)[:300]}", flush=True)


if __name__ == "__main__":
    main()
