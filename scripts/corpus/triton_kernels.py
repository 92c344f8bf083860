"""Triton kernels of our own, compiled to PTX without a GPU.

Called by triton_part.py as `triton_kernels.py DIRECTORY name.arch.ptx ...`, in the toolchain's Python.
"""

import os
import sys
from pathlib import Path

# Before the import: keep Triton's cache out of the user's home directory, and state the default that
# Triton otherwise warns about.
os.environ["TRITON_CACHE_DIR"] = str(Path(sys.argv[1]) / "triton-cache")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.language.extra import libdevice  # noqa: E402

# name -> (kernel, types of the arguments, constants, options)
KERNELS = {}


def kernel(types, constants=None, name=None, **options):
    """Enters a kernel into the table; the same function may enter several times with other types."""

    def enter(function):
        plain = getattr(function, "fn", function)
        compiled = function if hasattr(function, "fn") else triton.jit(function)
        signature = dict(zip(plain.__code__.co_varnames, types.split()))
        KERNELS[name or plain.__name__] = (compiled, signature, constants or {}, options)
        return compiled

    return enter


@kernel("*fp32 *fp32 *fp32 i32 constexpr", {"BLOCK": 1024})
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@kernel("*fp32 *fp32 i32 i32 constexpr", {"BLOCK": 2048}, num_warps=8)
def softmax(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + i, e / tl.sum(e, axis=0), mask=i < columns)


MATMUL = {"M_TILE": 128, "N_TILE": 128, "K_TILE": 64}


@kernel("*fp16 *fp16 *fp16 i32 i32 i32 constexpr constexpr constexpr", MATMUL, "matmul_f16", num_stages=3)
@kernel("*bf16 *bf16 *fp32 i32 i32 i32 constexpr constexpr constexpr", MATMUL, "matmul_bf16", num_warps=8)
@kernel("*fp32 *fp32 *fp32 i32 i32 i32 constexpr constexpr constexpr", {**MATMUL, "K_TILE": 32}, "matmul_tf32")
@kernel("*fp8e4nv *fp8e4nv *fp32 i32 i32 i32 constexpr constexpr constexpr", MATMUL, "matmul_fp8", num_stages=4)
@kernel("*i8 *i8 *i32 i32 i32 i32 constexpr constexpr constexpr", MATMUL, "matmul_s8")
@triton.jit
def matmul(a, b, c, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    m = tl.program_id(0) * M_TILE + tl.arange(0, M_TILE)
    n = tl.program_id(1) * N_TILE + tl.arange(0, N_TILE)
    k = tl.arange(0, K_TILE)
    pa = a + m[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + n[None, :]
    if c.dtype.element_ty == tl.int32:
        accumulator = tl.zeros((M_TILE, N_TILE), dtype=tl.int32)
    else:
        accumulator = tl.zeros((M_TILE, N_TILE), dtype=tl.float32)
    for start in range(0, K, K_TILE):
        x = tl.load(pa, mask=(m[:, None] < M) & (k[None, :] + start < K), other=0.0)
        y = tl.load(pb, mask=(k[:, None] + start < K) & (n[None, :] < N), other=0.0)
        accumulator = tl.dot(x, y, accumulator, out_dtype=accumulator.dtype)
        pa += K_TILE
        pb += K_TILE * N
    tl.store(c + m[:, None] * N + n[None, :], accumulator.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@kernel("*fp16 *fp16 *fp16 i32 i32 i32 constexpr constexpr constexpr", MATMUL, "matmul_descriptors", num_stages=3, num_warps=8)
@triton.jit
def matmul_descriptors(a, b, c, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    # Tensor descriptors become TMA copies where the hardware has them.
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[M_TILE, K_TILE])
    db = tl.make_tensor_descriptor(b, shape=[K, N], strides=[N, 1], block_shape=[K_TILE, N_TILE])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[M_TILE, N_TILE])
    m, n = tl.program_id(0) * M_TILE, tl.program_id(1) * N_TILE
    accumulator = tl.zeros((M_TILE, N_TILE), dtype=tl.float32)
    for k in range(0, K, K_TILE):
        accumulator = tl.dot(da.load([m, k]), db.load([k, n]), accumulator)
    dc.store([m, n], accumulator.to(tl.float16))


@kernel("*fp16 *fp16 *fp16 i32 i32 i32 constexpr constexpr constexpr", MATMUL, "matmul_warp_specialized", num_stages=3, num_warps=4)
@triton.jit
def matmul_warp_specialized(a, b, c, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[M_TILE, K_TILE])
    db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[N_TILE, K_TILE])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[M_TILE, N_TILE])
    m, n = tl.program_id(0) * M_TILE, tl.program_id(1) * N_TILE
    accumulator = tl.zeros((M_TILE, N_TILE), dtype=tl.float32)
    for k in tl.range(0, K, K_TILE, warp_specialize=True):
        accumulator = tl.dot(da.load([m, k]), db.load([n, k]).T, accumulator)
    dc.store([m, n], accumulator.to(tl.float16))


@kernel("*u8 *u8 *u8 *u8 *fp32 constexpr constexpr constexpr", {"M": 128, "N": 128, "K": 256}, "matmul_scaled_mxfp8")
@triton.jit
def matmul_scaled(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k, s = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    xs = tl.load(sa + m[:, None] * (K // 32) + s[None, :])
    ys = tl.load(sb + n[:, None] * (K // 32) + s[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(x, xs, "e4m3", y, ys, "e4m3"))


@kernel("*fp16 *fp16 *fp32 *fp32 i32 fp32 constexpr", {"BLOCK": 1024})
def layer_norm(x, out, weight, bias, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    v = tl.load(x + row * columns + i, mask=mask, other=0).to(tl.float32)
    mean = tl.sum(v, axis=0) / columns
    centred = tl.where(mask, v - mean, 0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    y = centred * scale * tl.load(weight + i, mask=mask) + tl.load(bias + i, mask=mask)
    tl.store(out + row * columns + i, y.to(tl.float16), mask=mask)


@kernel("*fp16 *fp16 *fp16 *fp16 i32 fp32 constexpr constexpr constexpr", {"ROWS": 128, "STEP": 64, "HEAD": 64}, num_stages=3)
def attention(q, k, v, out, length, scale, ROWS: tl.constexpr, STEP: tl.constexpr, HEAD: tl.constexpr):
    # Softmax over the keys in one pass, rescaling what was accumulated before.
    base = tl.program_id(1) * length * HEAD
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    h = tl.arange(0, HEAD)
    s = tl.arange(0, STEP)
    rows = tl.load(q + base + r[:, None] * HEAD + h[None, :])
    top = tl.full((ROWS,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    accumulator = tl.zeros((ROWS, HEAD), dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * ROWS, STEP):
        keys = tl.load(k + base + (start + s)[None, :] * HEAD + h[:, None])
        score = tl.dot(rows, keys) * scale
        score = tl.where(r[:, None] >= (start + s)[None, :], score, -1.0e6)
        higher = tl.maximum(top, tl.max(score, axis=1))
        p = tl.exp2(score - higher[:, None])
        shrink = tl.exp2(top - higher)
        total = total * shrink + tl.sum(p, axis=1)
        values = tl.load(v + base + (start + s)[:, None] * HEAD + h[None, :])
        accumulator = tl.dot(p.to(tl.float16), values, accumulator * shrink[:, None])
        top = higher
    tl.store(out + base + r[:, None] * HEAD + h[None, :], (accumulator / total[:, None]).to(tl.float16))


@kernel("*fp32 *fp32 *i32 *i32 i32 constexpr", {"BLOCK": 512})
def reductions(x, fout, n_in, iout, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    w = tl.load(n_in + i, mask=i < n, other=0)
    tl.store(fout + 0, tl.sum(v, axis=0))
    tl.store(fout + 1, tl.min(v, axis=0))
    tl.store(iout + 0, tl.argmax(v, axis=0))
    tl.store(iout + 1, tl.xor_sum(w, axis=0))
    tl.store(iout + 2, tl.max(w, axis=0))


@triton.jit
def product(a, b):
    return a * b


@kernel("*fp32 *fp32 *i32 *i32 constexpr", {"BLOCK": 1024})
def scans(x, fout, n_in, iout, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(fout + i, tl.associative_scan(tl.load(x + i), 0, product))
    tl.store(iout + i, tl.cumsum(tl.load(n_in + i), axis=0))


@kernel("*i32 *fp32 *fp16 *fp32 i32 constexpr", {"BLOCK": 256})
def atomics(ints, floats, halves, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask)
    tl.atomic_add(floats + i % 7, v, mask=mask)
    tl.atomic_add(halves + i % 5, v.to(tl.float16), mask=mask, sem="relaxed")
    tl.atomic_max(ints + i % 3, v.to(tl.int32), mask=mask, scope="cta")
    tl.atomic_min(ints + i, v.to(tl.int32), mask=mask, sem="acquire")
    tl.atomic_and(ints + i, i, mask=mask, scope="sys")
    tl.atomic_xor(ints + i, i, mask=mask, sem="release")
    tl.atomic_xchg(ints + i, i, mask=mask)
    while tl.atomic_cas(ints, 0, 1) != 0:
        pass
    tl.atomic_xchg(ints, 0)


@kernel("*fp32 *i32 *fp32 i32 constexpr", {"BLOCK": 256})
def gather_scatter(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    j = tl.load(index + i, mask=mask, other=0)
    v = tl.load(x + j, mask=mask & (j >= 0), other=0)
    w = tl.gather(v, j % BLOCK, axis=0)
    tl.store(out + j, tl.where(v > w, v, w), mask=mask)


@kernel("*fp32 *fp32 *i32 constexpr", {"BLOCK": 512})
def sort_histogram(x, out, counts, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, tl.sort(v, descending=True))
    tl.store(counts + tl.arange(0, 64), tl.histogram(v.to(tl.int32), 64))


@kernel("*fp32 *fp64 *fp32 *fp64 constexpr", {"BLOCK": 256})
def math(x, d, out, dout, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    w = tl.load(d + i)
    v = libdevice.tanh(v) + libdevice.erf(v) + libdevice.pow(v, 1.5) + libdevice.atan2(v, 2.0) + libdevice.fmod(v, 3.0)
    v += tl.sin(v) + tl.cos(v) + tl.log(v) + tl.sqrt(v) + tl.fma(v, v, v) + tl.sqrt_rn(v) + tl.div_rn(v, 3.0)
    w = libdevice.sin(w) + libdevice.lgamma(w) + libdevice.cbrt(w) + libdevice.rsqrt(w) + tl.exp(w)
    tl.store(out + i, v)
    tl.store(dout + i, w)


@kernel("*fp32 *i32 i32 constexpr", {"BLOCK": 128})
def print_and_assert(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.device_print("value", v, n)
    tl.device_assert(n > 0, "n must be positive")
    tl.debug_barrier()
    tl.store(y + i, v.to(tl.int32))


@kernel("*fp32 i32 constexpr", {"BLOCK": 512})
def random_numbers(out, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.rand(seed, i) + tl.randn(seed, i))


@kernel("*fp16 *fp16 i32 i32 constexpr", {"TILE": 64})
def transpose(x, out, rows, columns, TILE: tl.constexpr):
    r = tl.program_id(0) * TILE + tl.arange(0, TILE)
    c = tl.program_id(1) * TILE + tl.arange(0, TILE)
    v = tl.load(x + r[:, None] * columns + c[None, :], eviction_policy="evict_first")
    w = tl.load(out + c[:, None] * rows + r[None, :], cache_modifier=".cg")
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(v) + w, cache_modifier=".cs")


@kernel("*i32 *i32 *fp32 *fp16 constexpr", {"BLOCK": 256})
def inline_assembly(a, b, x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.inline_asm_elementwise("lop3.b32 $0, $1, $2, 0x1234, 0x6a;", "=r,r,r", [tl.load(a + i), tl.load(b + i)], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(a + i, v)
    w = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [tl.load(x + i)], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(y + i, w.to(tl.float16))


@kernel("*fp8e5 *fp8e4nv *bf16 *fp16 *i64 constexpr", {"BLOCK": 512})
def conversions(a, b, c, d, e, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(a + i).to(tl.float32)
    tl.store(b + i, v.to(tl.float8e4nv))
    tl.store(c + i, v.to(tl.bfloat16))
    tl.store(d + i, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(e + i, v.to(tl.int64))


def main() -> None:
    directory = Path(sys.argv[1])
    for filename in sys.argv[2:]:
        name, arch, _ = filename.split(".")
        try:
            function, types, constants, options = KERNELS[name]
            target = GPUTarget("cuda", int(arch.removeprefix("sm_").removesuffix("a")), 32)
            # Pointers that Triton may take to be aligned become vector accesses, as they do for real tensors.
            aligned = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(types.values()) if kind.startswith("*")}
            source = ASTSource(function, types, constants, aligned)
            compiled = triton.compile(source, target=target, options=options)
            (directory / filename).write_text(compiled.asm["ptx"])
            print("ok", filename, flush=True)
        except Exception as error:  # one refused kernel must not hide the others
            lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
            line = next((line for line in lines if "error" in line.lower()), lines[-1])
            print("failed", filename, f"{type(error).__name__}: {line[:200]}", flush=True)


if __name__ == "__main__":
    main()
