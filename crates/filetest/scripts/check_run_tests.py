#!/usr/bin/env python3
"""Computes what the generated kernels of tests/ptx/run must leave a second time, with exact rational numbers.

  check_run_tests.py FORMS… DIRECTORY     the same arguments as make_run_tests.py

Shares nothing with the interpreter: written from the manual, forms are read from their names.
"""
import math, pathlib, re, struct, sys
from fractions import Fraction

FMT = {'f16': (5, 10), 'bf16': (8, 7), 'f32': (8, 23), 'f64': (11, 52), 'tf32': (8, 10), 'e4m3': (4, 3), 'e5m2': (5, 2),
       'e3m2': (3, 2), 'e2m3': (2, 3), 'e2m1': (2, 1)}
INF = float('inf')
NAN = 'nan'


def largest(fmt):
    e, m = FMT[fmt]
    if fmt == 'e4m3': return Fraction(448)
    top = (1 << e) - (1 if fmt in ('e3m2', 'e2m3', 'e2m1') else 2)
    return (2 - Fraction(1, 1 << m)) * Fraction(2) ** (top - (1 << (e - 1)) + 1)


def decode(fmt, bits):
    """(sign, value) with value a Fraction, INF or NAN."""
    e, m = FMT[fmt]
    sign = bits >> (e + m) & 1
    x, f = bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)
    bias = (1 << (e - 1)) - 1
    if fmt == 'e4m3' and x == 15 and f == 7: return sign, NAN
    if fmt in ('f16', 'bf16', 'f32', 'f64', 'tf32', 'e5m2') and x == (1 << e) - 1:
        return sign, NAN if f else INF
    value = Fraction(f, 1 << m) * Fraction(2) ** (1 - bias) if x == 0 else (1 + Fraction(f, 1 << m)) * Fraction(2) ** (x - bias)
    return sign, value


def signed(sv):
    s, v = sv
    if v == NAN: return NAN
    return -v if s else v


def encode(fmt, value, mode='rn', zero_sign=0):
    """Bits of the exact value, rounded; value may be NAN or ±INF."""
    e, m = FMT[fmt]
    bias = (1 << (e - 1)) - 1
    if value == NAN: return NAN
    sign = zero_sign if value == 0 else int(value < 0)
    mag = abs(value)
    if mag == INF: return sign << (e + m) | ((1 << e) - 1) << m
    if mag == 0: return sign << (e + m)
    # Exponent by comparison, no logarithms.
    ex = mag.numerator.bit_length() - mag.denominator.bit_length()
    while Fraction(2) ** ex > mag: ex -= 1
    while Fraction(2) ** (ex + 1) <= mag: ex += 1
    ex = max(ex, 1 - bias)
    unit = Fraction(2) ** (ex - m)
    q, r = divmod(mag, unit)
    q = int(q)
    up = {'rn': 2 * r > unit or (2 * r == unit and q & 1), 'rna': 2 * r >= unit, 'rz': False,
          'rm': r and sign, 'rp': r and not sign}[mode]
    q += bool(up)
    value = q * unit
    if value > largest(fmt):
        to_inf = mode in ('rn', 'rna') or (mode == 'rp' and not sign) or (mode == 'rm' and sign)
        if to_inf: return sign << (e + m) | ((1 << e) - 1) << m
        return sign << (e + m) | encode(fmt, largest(fmt), 'rz')
    x = ex + bias if q >= 1 << m else 0
    return (sign << (e + m)) + ((x - 1 if x else 0) << m) + q


def is_sub(fmt, bits):
    e, m = FMT[fmt]
    mag = bits & ((1 << (e + m)) - 1)
    return 0 < mag < 1 << m


def flush(fmt, bits):
    e, m = FMT[fmt]
    return bits & 1 << (e + m) if is_sub(fmt, bits) else bits


class Op:
    def __init__(self, form):
        w = form.split('.')
        self.op, self.mods = w[0], w[1:]
        self.types = [x for x in self.mods if re.match(r'([busf]|bf|tf)\d+(x\d)?$|pred$|e\dm\dx2$', x)]
        self.ty = self.types[-1] if self.types else None
        self.mode = next((x for x in self.mods if x in ('rn', 'rz', 'rm', 'rp', 'rna')), 'rn')
        self.ftz, self.sat, self.relu = 'ftz' in self.mods, 'sat' in self.mods, 'relu' in self.mods


def width(ty):
    if ty == 'pred': return 1
    if ty == 'tf32': return 32
    if ty.startswith('e'): return 16
    m = re.match(r'[a-z]+(\d+)(?:x(\d))?$', ty)
    return int(m[1]) * int(m[2] or 1)


def sx(v, n): return v - (1 << n) if v >> (n - 1) & 1 else v
def ival(ty, v): return sx(v & ((1 << width(ty)) - 1), width(ty)) if ty[0] == 's' else v & ((1 << width(ty)) - 1)
def irange(ty):
    n = width(ty)
    return (-(1 << (n - 1)), (1 << (n - 1)) - 1) if ty[0] == 's' else (0, (1 << n) - 1)
def clamp(v, lo, hi): return max(lo, min(hi, v))


def finish(o, fmt, bits):
    if bits == NAN:
        return 0 if o.sat else NAN
    if o.ftz: bits = flush(fmt, bits)
    e, m = FMT[fmt]
    neg = bits >> (e + m) & 1
    if o.sat: return 0 if neg else min(bits, encode(fmt, Fraction(1)))
    if o.relu and neg: return 0
    return bits


def fin(o, fmt, bits): return decode(fmt, flush(fmt, bits) if o.ftz else bits)


def fadd(o, fmt, x, y):
    (sa, a), (sb, b) = x, y
    if NAN in (a, b): return NAN
    if a == INF and b == INF: return NAN if sa != sb else encode(fmt, -INF if sa else INF)
    if INF in (a, b):
        s = sa if a == INF else sb
        return encode(fmt, -INF if s else INF)
    total = (-a if sa else a) + (-b if sb else b)
    zs = (sa if sa == sb and a == 0 and b == 0 else int(o.mode == 'rm'))
    return encode(fmt, total, o.mode, zs)


def fmul(x, y):
    """Exact (sign, value)."""
    (sa, a), (sb, b) = x, y
    s = sa ^ sb
    if NAN in (a, b): return s, NAN
    if INF in (a, b): return (s, NAN) if 0 in (a, b) else (s, INF)
    return s, a * b


def fsqrt(fmt, mode, v):
    # Enough bits to decide: an integer root of the value scaled by an even power of two, and a sticky bit.
    k = 1200
    n = int(v * Fraction(4) ** k)
    r = math.isqrt(n)
    exact = r * r == v * Fraction(4) ** k
    return encode(fmt, Fraction(2 * r + (0 if exact else 1), 2) / Fraction(2) ** k, mode)


def scalar_float(o, fmt, a, b, c):
    e, m = FMT[fmt]
    sign = 1 << (e + m)
    op = o.op
    if op in ('abs', 'neg'):
        v = flush(fmt, a) if o.ftz else a
        if decode(fmt, v)[1] == NAN: return NAN
        return v & ~sign if op == 'abs' else v ^ sign
    if op == 'copysign':
        r = b & ~sign | a & sign
        return NAN if decode(fmt, r)[1] == NAN else r
    if op in ('min', 'max'):
        if o.ftz: a, b = flush(fmt, a), flush(fmt, b)
        xs = (a ^ b) & sign
        if 'abs' in o.mods: a, b = a & ~sign, b & ~sign
        na, nb = decode(fmt, a)[1] == NAN, decode(fmt, b)[1] == NAN
        if na and nb or ('NaN' in o.mods and (na or nb)): return NAN
        if na: r = b
        elif nb: r = a
        else:
            key = lambda v: (signed(decode(fmt, v)), 0 if v & sign else 1)
            r = (min if op == 'min' else max)(a, b, key=key)
        return r & ~sign | xs if 'xorsign' in o.mods else r
    x, y, z = fin(o, fmt, a), fin(o, fmt, b), fin(o, fmt, c)
    if op == 'add': r = fadd(o, fmt, x, y)
    elif op == 'sub': r = fadd(o, fmt, x, (1 - y[0], y[1]))
    elif op == 'mul':
        s, v = fmul(x, y)
        r = NAN if v == NAN else encode(fmt, -v if s else v, o.mode, s)
    elif op in ('fma', 'mad'): r = fadd(o, fmt, fmul(x, y), z)
    elif op in ('div', 'rcp'):
        if op == 'rcp': x, y = (0, Fraction(1)), x
        s = x[0] ^ y[0]
        if NAN in (x[1], y[1]) or (x[1] == y[1] and x[1] in (0, INF)): r = NAN
        elif x[1] == INF or y[1] == 0: r = encode(fmt, -INF if s else INF)
        elif x[1] == 0 or y[1] == INF: r = encode(fmt, Fraction(0), o.mode, s)
        else: r = encode(fmt, (-1 if s else 1) * x[1] / y[1], o.mode, s)
    elif op == 'sqrt':
        if x[1] == NAN: r = NAN
        elif x[1] == 0: r = x[0] << (e + m)
        elif x[0]: r = NAN
        elif x[1] == INF: r = encode(fmt, INF)
        else: r = fsqrt(fmt, o.mode, x[1])
    else: return None
    return finish(o, fmt, r)


def compare(o, ty, a, b):
    cmp = next(x for x in o.mods if x in 'eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan'.split())
    if ty in FMT:
        x, y = signed(fin(o, ty, a)), signed(fin(o, ty, b))
        un = NAN in (x, y)
        if cmp == 'num': return not un
        if cmp == 'nan': return un
        if un: return len(cmp) == 3
        cmp = cmp[:2]
    else:
        if cmp in ('lo', 'ls', 'hi', 'hs'):
            ty = 'u%d' % width(ty)
            cmp = {'lo': 'lt', 'ls': 'le', 'hi': 'gt', 'hs': 'ge'}[cmp]
        x, y = ival(ty, a), ival(ty, b)
    return {'eq': x == y, 'ne': x != y, 'lt': x < y, 'le': x <= y, 'gt': x > y, 'ge': x >= y}[cmp]


def convert(o, to, source, v):
    """Bits of one element."""
    ri = next((x for x in o.mods if x in ('rni', 'rzi', 'rmi', 'rpi')), None)
    rounders = {'rni': lambda q: round(q), 'rzi': lambda q: math.trunc(q), 'rmi': lambda q: math.floor(q), 'rpi': lambda q: math.ceil(q)}
    if source in FMT:
        if source == 'f32' and o.ftz: v = flush('f32', v)
        s, x = decode(source, v)
        x = -x if s and x != NAN else x
        if to not in FMT:
            lo, hi = irange(to)
            # The top bit where either side has 64 bits.
            if x == NAN: return 1 << (width(to) - 1) if source == 'f64' or width(to) == 64 else 0
            if x in (INF, -INF): return (hi if x > 0 else lo) & ((1 << width(to)) - 1)
            return clamp(rounders[ri](x), lo, hi) & ((1 << width(to)) - 1)
        if ri and x not in (NAN, INF, -INF):
            x = Fraction(rounders[ri](x))
        zs = s
    else:
        x, zs = ival(source, v), 0
        if to not in FMT:
            if o.sat: x = clamp(x, *irange(to))
            return x & ((1 << width(to)) - 1)
        x = Fraction(x)
    if 'satfinite' in o.mods:
        if x == NAN and to in ('e3m2', 'e2m3', 'e2m1'): x = largest(to)
        if x != NAN:
            if o.relu and x < 0: return 0
            if abs(x) >= largest(to): x = largest(to) * (1 if x > 0 else -1)
            r = encode(to, x, o.mode, zs)
            if o.relu and r >> sum(FMT[to]): return 0
            return r
    r = encode(to, x, o.mode, zs)
    if r == NAN: return 0 if o.sat else NAN
    if o.ftz and to == 'f32': r = flush(to, r)
    neg = r >> sum(FMT[to]) & 1
    if o.sat: return 0 if neg else min(r, encode(to, Fraction(1)))
    if o.relu and neg: return 0
    return r


def bits_op(o, a, b, c):
    op, ty = o.op, o.ty
    n = width(ty)
    M = (1 << n) - 1
    if op == 'popc': return bin(a & M).count('1')
    if op == 'clz': return n - (a & M).bit_length()
    if op == 'brev': return int(format(a & M, '0%db' % n)[::-1], 2)
    if op == 'bfind':
        x = ival(ty, a)
        x = ~x if x < 0 else x
        if x == 0: return 0xffffffff
        p = x.bit_length() - 1
        return n - 1 - p if 'shiftamt' in o.mods else p
    if op == 'not': return ~a & M
    if op == 'cnot': return int(a & M == 0)
    if op == 'and': return a & b
    if op == 'or': return a | b
    if op == 'xor': return a ^ b
    if op == 'shl': return a << b & M if b < n else 0
    if op == 'shr': return ival(ty, a) >> min(b, n) & M
    if op == 'shf':
        s = b << 32 | a
        k = c & 31 if 'wrap' in o.mods else min(c, 32)
        return (s << k >> 32 if 'l' in o.mods else s >> k) & 0xffffffff
    if op == 'lop3':
        return sum(((0xca >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1))) & 1) << i for i in range(32))
    if op == 'bfe':
        pos, ln = b & 255, c & 255
        msb = n - 1
        if ty[0] == 'u' or ln == 0: sb = 0
        else: sb = a >> min(pos + ln - 1, msb) & 1
        d = 0
        for i in range(msb + 1):
            d |= (a >> (pos + i) & 1 if i < ln and pos + i <= msb else sb) << i
        return d
    if op == 'bmsk':
        pos, ln = (a & 31, b & 31) if 'wrap' in o.mods else (min(a, 32), min(b, 32))
        return (((1 << ln) - 1) << pos) & 0xffffffff
    if op == 'szext':
        ln = b & 31 if 'wrap' in o.mods else min(b, 32)
        if ln == 0: return 0
        v = a & ((1 << ln) - 1)
        return (sx(v, ln) if ty == 's32' else v) & 0xffffffff
    if op == 'fns':
        k = sx(c, 32)
        if k == 0: return b if b < 32 and a >> b & 1 else 0xffffffff
        order = range(b, 32) if k > 0 else range(b, -1, -1)
        hits = [i for i in order if i < 32 and a >> i & 1]
        return hits[abs(k) - 1] if len(hits) >= abs(k) else 0xffffffff
    if op == 'prmt':
        mode = o.mods[1] if len(o.mods) > 1 else ''
        s = c & 3
        sel = {'': [c >> 4 * i & 15 for i in range(4)], 'f4e': [s + i for i in range(4)], 'b4e': [(s - i) % 8 for i in range(4)],
               'rc8': [s] * 4, 'ecl': [max(i, s) for i in range(4)], 'ecr': [min(i, s) for i in range(4)],
               'rc16': [(0, 1, 0, 1)[i] + 2 * (s & 1) for i in range(4)]}[mode]
        both = b << 32 | a
        d = 0
        for i, k in enumerate(sel):
            byte = both >> 8 * (k & 7) & 255
            if k & 8: byte = 255 if byte & 128 else 0
            d |= byte << 8 * i
        return d
    return None


def int_op(o, a, b, c):
    op, ty = o.op, o.ty
    n = width(ty)
    M = (1 << n) - 1
    x, y = ival(ty, a), ival(ty, b)
    z = c if 'wide' in o.mods else ival(ty, c)
    hi = 'hi' in o.mods
    if op == 'add': r = x + y
    elif op == 'sub': r = x - y
    elif op in ('mul', 'mad'):
        p = x * y
        if hi: p >>= n
        r = p + (z if op == 'mad' else 0)
        if 'wide' in o.mods: return r & ((1 << 2 * n) - 1)
    elif op in ('mul24', 'mad24'):
        f = (lambda v: sx(v & 0xffffff, 24)) if ty[0] == 's' else (lambda v: v & 0xffffff)
        p = f(a) * f(b)
        p = p >> 16 if hi else p
        if op == 'mad24' and hi: p = sx(p & M, 32) if ty[0] == 's' else p & M
        r = p + (z if op == 'mad24' else 0)
    elif op == 'sad': r = z + abs(x - y)
    elif op in ('div', 'rem'):
        if y == 0: r = M if op == 'div' else x
        else:
            q = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            r = q if op == 'div' else x - q * y
    elif op == 'min': r = min(x, y)
    elif op == 'max': r = max(x, y)
    elif op == 'abs': r = abs(x)
    elif op == 'neg': r = -x
    else: return None
    if o.sat: r = clamp(r, *irange(ty))
    if o.relu: r = max(r, 0)
    return r & M


def lanes(o, ty, f, args):
    m = re.match(r'([a-z]+\d+)x(\d)$', ty)
    base, count = (m[1], int(m[2])) if m else (ty, 1)
    n = width(base)
    out = []
    for i in range(count):
        out.append(f(base, *[v >> n * i & ((1 << n) - 1) for v in args]))
    return n, out


def dp(o, a, b, c):
    ta, tb = o.types
    by = lambda t, w, i, n: (sx if t == 's32' else lambda v, n: v)(w >> n * i & ((1 << n) - 1), n)
    if o.op == 'dp4a': s = sum(by(ta, a, i, 8) * by(tb, b, i, 8) for i in range(4))
    else:
        k = 2 if 'hi' in o.mods else 0
        s = sum(by(ta, a, i, 16) * by(tb, b, k + i, 8) for i in range(2))
    return (s + c) & 0xffffffff


def video(o, a, b, c):
    """Whole registers, as the generated kernels have them."""
    name, lanes_ = (o.op[:-1], int(o.op[-1])) if o.op[-1].isdigit() else (o.op, 1)
    types = ['u32'] + o.types if name == 'vset' else o.types
    dt, at, bt = types[:3]
    n = 32 // lanes_
    part = lambda t, v, i: (sx if t == 's32' else lambda v, n: v)(v >> n * i & ((1 << n) - 1), n)
    second = next((m for m in o.mods if m in ('add', 'min', 'max')), None)
    lo, hi = ((-(1 << (n - 1)), (1 << (n - 1)) - 1) if dt == 's32' else (0, (1 << n) - 1))
    if name == 'vmad':
        signed_final = 's32' in (at, bt)
        r = part(at, a, 0) * part(bt, b, 0) + (sx(c, 32) if signed_final else c) + ('po' in o.mods)
        r >>= 7 if 'shr7' in o.mods else 15 if 'shr15' in o.mods else 0
        if o.sat: r = clamp(r, -(1 << 31), (1 << 31) - 1) if signed_final else clamp(r, 0, (1 << 32) - 1)
        return r & 0xffffffff
    results = []
    for i in range(lanes_):
        x, y = part(at, a, i), part(bt, b, i)
        k = y & 31 if 'wrap' in o.mods else min(y, 32)
        r = {'vadd': lambda: x + y, 'vsub': lambda: x - y, 'vabsdiff': lambda: abs(x - y), 'vmin': lambda: min(x, y),
             'vmax': lambda: max(x, y), 'vshl': lambda: x << k, 'vshr': lambda: x >> k,
             'vavrg': lambda: x + y + 1 >> 1 if x + y >= 0 else x + y >> 1,
             'vset': lambda: {'eq': x == y, 'ne': x != y, 'lt': x < y, 'le': x <= y, 'gt': x > y, 'ge': x >= y}[
                 next(m for m in o.mods if m in ('eq', 'ne', 'lt', 'le', 'gt', 'ge'))] + 0}[name]()
        results.append(clamp(r, lo, hi) if o.sat else r)
    if lanes_ > 1:
        if second: return (c + sum(results)) & 0xffffffff
        return sum((r & ((1 << n) - 1)) << n * i for i, r in enumerate(results))
    r = results[0]
    fit = (lambda v: sx(v & 0xffffffff, 32)) if dt == 's32' else (lambda v: v & 0xffffffff)
    if second: r = {'add': lambda p, q: p + q, 'min': min, 'max': max}[second](fit(r), fit(c))
    return r & 0xffffffff


def carry_form(form, args, odd):
    """Result, and carry or borrow out as the kernel stores it."""
    o = Op(form)
    n = width(o.ty)
    M = (1 << n) - 1
    into = int(odd) if o.op.endswith('c') and o.op != 'sad' else 0
    a, b = args[0], args[1]
    if o.op.startswith('sub'):
        r = a - b - into
        out = int(r < 0)
        return r & M, (-out) & M if 'cc' in o.mods else 0
    if o.op.startswith('add'): r = a + b + into
    else:
        p = ival(o.ty, a) * ival(o.ty, b)
        r = ((p >> n if 'hi' in o.mods else p) & M) + args[2] + into
    return r & M, r >> n if 'cc' in o.mods else 0


def atomic(form, old, b, c):
    o = Op(form)
    ty = o.ty
    op = next(m for m in o.mods if m in ('add', 'min', 'max', 'and', 'or', 'xor', 'exch', 'cas', 'inc', 'dec'))
    if re.sub(r'x2$', '', ty) in FMT:
        q = Op('add.' + ty)
        return lanes(q, ty, lambda f, x, y: scalar_float(q, f, x, y, 0), [old, b])[1]
    x, y = ival(ty, old), ival(ty, b)
    r = {'add': lambda: x + y, 'min': lambda: min(x, y), 'max': lambda: max(x, y), 'and': lambda: x & y, 'or': lambda: x | y,
         'xor': lambda: x ^ y, 'exch': lambda: y, 'cas': lambda: c if x == y else x, 'inc': lambda: 0 if x >= y else x + 1,
         'dec': lambda: y if x == 0 or x > y else x - 1}[op]()
    return [r & ((1 << width(ty)) - 1)]


def bfi(form, a, b, c, e):
    n = width(Op(form).ty)
    pos, ln = c & 255, e & 255
    for i in range(ln):
        if pos + i < n: b = b & ~(1 << pos + i) | (a >> i & 1) << pos + i
    return [b]


def evaluate(form, args):
    """List of (bits or NAN) elements, or None if this form is not computed here."""
    o = Op(form)
    a, b, c = (list(args) + [0, 0, 0])[:3]
    ty = o.ty
    if 'approx' in o.mods or 'full' in o.mods: return None
    if o.op[0] == 'v': return [video(o, a, b, c)]
    if o.op == 'bfi': return bfi(form, *args)
    if o.op in ('dp4a', 'dp2a'): return [dp(o, a, b, c)]
    if o.op == 'selp': return [a if c else b]
    if o.op == 'slct':
        if o.types[1] == 's32': return [a if sx(c, 32) >= 0 else b]
        v = signed(fin(o, 'f32', c))
        return [a if v != NAN and v >= 0 else b]
    if o.op == 'mov': return None
    if o.op == 'setp':
        r = compare(o, ty, a, b)
        comb = next((x for x in o.mods if x in ('and', 'or', 'xor')), None)
        if comb: r = {'and': r and c != 0, 'or': r or c != 0, 'xor': r != (c != 0)}[comb]
        return [int(r)]
    if o.op == 'testp':
        s, v = decode(ty, a)
        k = o.mods[0]
        sub = is_sub(ty, a)
        return [int({'finite': v not in (NAN, INF), 'infinite': v == INF, 'number': v != NAN, 'notanumber': v == NAN,
                     'normal': v not in (NAN, INF, 0) and not sub, 'subnormal': sub}[k])]
    if o.op == 'set':
        to = o.types[0]
        n, r = lanes(o, ty, lambda base, x, y: compare(o, base, x, y), [a, b])
        one = re.sub(r'x\d$', '', to)
        if one in FMT: truth = encode(one, Fraction(1))
        else: truth = (1 << width(to) // len(r)) - 1
        vals = [truth if x else 0 for x in r]
        if to.endswith('x2') or len(r) == 1: return vals
        return [vals[0] | vals[1] << 16]
    if o.op == 'cvt' and o.mods[0] != 'pack':
        to, source = o.types
        tb, sb = re.sub(r'x2$', '', to), re.sub(r'x2$', '', source)
        if to.endswith('x2'):
            n = {'e4m3': 8, 'e5m2': 8, 'e3m2': 8, 'e2m3': 8}.get(tb, 16)
            if source == 'f32': parts = [convert(o, tb, 'f32', b), convert(o, tb, 'f32', a)]
            else:
                k = {'e4m3': 8, 'e5m2': 8, 'e3m2': 8, 'e2m3': 8}.get(sb, 16)
                parts = [convert(o, tb, sb, a >> k * i & ((1 << k) - 1)) for i in range(2)]
            if tb in ('f16', 'bf16'): return parts
            nan = {'e4m3': 0x7f, 'e5m2': 0x7f}
            parts = [nan[tb] if p == NAN else p for p in parts]
            return [parts[0] | parts[1] << n]
        r = convert(o, to, source, a)
        if to == 'tf32' and r != NAN: r <<= 13
        if to not in FMT and width(to) == 8:
            r = sx(r, 8) & 0xffff if to[0] == 's' else r
        return [r]
    if o.op == 'cvt':
        to = o.types[0]
        n = width(to)
        f = lambda v: clamp(sx(v, 32), *irange(to)) & ((1 << n) - 1)
        return [(f(a) << n | f(b) | (c << 2 * n if len(args) == 3 else 0)) & 0xffffffff]
    if ty == 'pred':
        x, y = int(a != 0), int(b != 0)
        return [{'and': x & y, 'or': x | y, 'xor': x ^ y, 'not': 1 - x}[o.op]]
    base = re.sub(r'x\d$', '', ty)
    if base in FMT:
        return lanes(o, ty, lambda f, *v: scalar_float(o, f, *v), [a, b, c])[1]
    r = bits_op(o, a, b, c)
    if r is not None: return [r]
    if 'wide' in o.mods:
        r = int_op(o, a, b, c)
        return [r]
    def lane(t, *v):
        q = Op(form)
        q.ty = t
        return int_op(q, *v)
    r = lanes(o, ty, lane, [a, b, c])[1]
    return None if None in r else r


# Buffers.

def element_bits(e): return int(re.search(r'\d+$', e)[0]) if e != 'bf16' else 16


def edges(e):
    n = element_bits(e)
    if e in FMT:
        x, m = FMT[e]
        sign, one, small = 1 << (x + m), encode(e, Fraction(1)), 1 << m
        inf = ((1 << x) - 1) << m
        f = lambda v: encode(e, Fraction(v))
        return [0, sign, one, one | sign, 1, small - 1 | sign, small, inf - 1, inf - 1 | sign, inf, inf | sign, inf | small // 2,
                f(1.5), f(-2.5), f(0.333), f(1000.25)]
    mx, mn = (1 << n) - 1, 1 << (n - 1)
    alt = 0x5a5a5a5a5a5a5a5a & mx
    return [0, 1, mx, mn, mn - 1, mn + 1, 2, mx - 1, 7, 31, 32, mx // 255 * 0x80, 0x33 ^ alt, alt, ~alt & mx, mx >> n // 2]


def value(e, w):
    if w.startswith('0x'): return int(w, 16)
    if e in FMT:
        v = float(w)
        if v != v: return ((1 << FMT[e][0]) - 1) << FMT[e][1] | 1 << (FMT[e][1] - 1)
        if v in (INF, -INF): return encode(e, v)
        return encode(e, Fraction(v), 'rn', int(math.copysign(1, v) < 0))
    if e[0] == 'b': return int(w, 16)
    return int(w) & ((1 << element_bits(e)) - 1)


def initial(e, n, how):
    m = re.match(r'edges(?:\((\d+)\))?$', how)
    if m:
        ed, r = edges(e), int(m[1] or 1)
        return [ed[i // r % 16] for i in range(n)]
    lst = [value(e, w) for w in how.strip('{}').split()]
    return [lst[i % len(lst)] for i in range(n)]


def expected(e, text):
    out = []
    for w in text.split():
        w, _, k = w.partition('*')
        v = NAN if w == 'nan' else value(e, w if e[0] != 'b' or e == 'bf16' else w)
        out += [v] * int(k or 1)
    return out


def ident(form): return re.sub(r'[.:]+', '_', form)


forms = {ident(f): f for path in sys.argv[1:-1] for f in open(path).read().split()}
checked, skipped, bad = 0, [], 0
for path in sorted(pathlib.Path(sys.argv[-1]).glob('*.ptx')):
    text = path.read_text()
    if '//@ expect:' not in text: continue
    head, tail = text.split('//@ expect:\n')
    results = {m[1]: m[2] for m in re.finditer(r'^(\w+):((?:.|\n  )*)', tail, re.M)}
    for m in re.finditer(r'^//@ run (\w+): block=(\d+) args=(.*)$', head, re.M):
        name, n, args = m[1], int(m[2]), m[3].split(',')
        form = forms.get(name)
        if form is None or form.split('.')[0] in ('ld', 'st', 'ldu', 'mov'):
            continue
        op = form.split('.')[0]
        bufs = []
        for arg in args:
            bm = re.match(r'(\w+):(\w+)\[(\d+)\](?:=(\{[^}]*\}|[\w()]+))?(~.*)?$', arg)
            bufs.append((bm[1], bm[2], int(bm[3]), bm[4]))
        if op in ('atom', 'red') or '.cc' in form or op in ('addc', 'subc', 'madc'):
            is_carry = op not in ('atom', 'red')
            outs = [b for b in bufs if b[3] is None]
            ins = [(e, k // n, initial(e, k, how)) for _, e, k, how in bufs if how]
            word = lambda e, p, data, t: sum(data[t * p + i] << element_bits(e) * i for i in range(p))
            for t in range(n):
                vals = [word(*i, t) for i in ins]
                if is_carry:
                    want = [expected(e, results[nm].replace('\n', ' '))[t] for nm, e, _, _ in outs]
                    same = list(carry_form(form, vals, t & 1)) == want
                else:
                    nm, e, k, _ = bufs[0]
                    p = k // n
                    now = expected(e, results[nm].replace('\n', ' '))[t * p:t * p + p] if nm in results else ins[0][2][t * p:t * p + p]
                    r = atomic(form, vals[0], vals[1], (vals + [0])[2])
                    same = all((x == NAN or decode(e, x)[1] == NAN) if y == NAN else x == y for x, y in zip(r, now))
                    if outs: same = same and all(y == NAN or x == y for x, y in zip(ins[0][2][t * p:t * p + p], expected(e, results[outs[0][0]].replace('\n', ' '))[t * p:t * p + p]))
                    want = now
                if not same:
                    bad += 1
                    print(form, 'thread', t, [hex(v) for v in vals], 'expected in file', want)
                    break
                checked += 1
            continue
        ins = [(e, k // n, initial(e, k, how)) for _, e, k, how in bufs[:-1]]
        oname, oe, ok, _ = bufs[-1]
        want = expected(oe, results[oname].replace('\n', ' '))
        assert len(want) == ok, (form, len(want), ok)
        per = ok // n
        for t in range(n):
            vals = []
            for e, p, data in ins:
                eb = element_bits(e)
                vals.append(sum(data[t * p + i] << eb * i for i in range(p)))
            r = evaluate(form, vals)
            if r is None:
                skipped.append(form)
                break
            if len(r) == 1 and per > 1 and oe not in FMT:
                r = [r[0] >> element_bits(oe) * i & ((1 << element_bits(oe)) - 1) for i in range(per)]
            got = want[t * per:(t + 1) * per]
            if oe in FMT:
                same = len(r) == len(got) and all((x == NAN or decode(oe, x)[1] == NAN) if y == NAN else x == y for x, y in zip(r, got))
            else:
                same = r == got
            if not same:
                bad += 1
                if bad < 40: print(form, 'thread', t, [hex(v) for v in vals], 'computed', r, 'expected in file', got)
                break
            checked += 1
print(f'{checked} values agree, {bad} forms differ; not computed here: {" ".join(sorted(set(skipped)))}')
