#!/usr/bin/env python3
"""Writes kernels for tests/ptx/run from a list of forms; the written files are what counts, not this script.

  make_run_tests.py FORMS… DIRECTORY      FORMS has one form a line; then BLESS=1 cargo test -p filetest -- run/

The lists are tests/ptx/run/forms_of_real_kernels.txt and more_forms.txt beside this script.

Each form becomes a kernel of the file of its opcode. What needs more than values in and values out (barriers,
collectives, matrices, control) is written by hand.
"""
import sys, re, collections, pathlib

TYPES = set('''b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f32x2 f64 tf32 pred e4m3x2 e5m2x2
 e3m2x2 e2m3x2 e2m1x2 u16x2 s16x2 u8x4 s8x4'''.split())
HEADER = '.version 9.1\n.target {}\n.address_size 64\n'


def bits(ty):
    if ty == 'pred': return 1
    if ty in ('tf32',): return 32
    m = re.match(r'[a-z]+(\d+)(?:x(\d))?$', ty)
    if ty.startswith('e') : return 8 if ty == 'e2m1x2' else 16
    return int(m[1]) * int(m[2] or 1)


def reg(ty, name):
    return '%' + {1: 'p', 8: 'h', 16: 'h', 32: 'r', 64: 'd'}[bits(ty)] + name


def raw(ty):
    return {8: 'u8', 16: 'u16', 32: 'u32', 64: 'u64'}[bits(ty)]


def element(ty):
    """Element type of a buffer, and elements per value."""
    m = re.match(r'(f16|bf16|f32)x2$', ty)
    if m: return m[1], 2
    if ty == 'tf32': return 'f32', 1
    m = re.match(r'([us])(\d+)x(\d)$', ty)
    if m: return m[1] + m[2], int(m[3])
    if ty.startswith('e'): return 'b%d' % bits(ty), 1
    return ty, 1


def ident(form):
    return re.sub(r'[.:]+', '_', form)


REGS = '\t.reg .pred %p<8>;\n\t.reg .b16 %h<16>;\n\t.reg .b32 %r<40>;\n\t.reg .b64 %d<40>;\n'


def kernel(name, params, body, before=''):
    head = ', '.join('.param .u64 %s' % p if isinstance(p, str) else '.param %s' % p[1] for p in params)
    return f'{before}.visible .entry {name}({head})\n{{\n{REGS}{body}\tret;\n}}\n'


def pointers(params):
    """Loads the pointers of buffers and advances each by the thread's element."""
    text = '\tmov.u32 %r30, %tid.x;\n'
    for n, (p, size) in enumerate(params):
        text += f'\tld.param.u64 %d{20 + n}, [{p}];\n\tmad.wide.u32 %d{20 + n}, %r30, {size}, %d{20 + n};\n'
    return text


def run_line(name, n, args, **more):
    extra = ''.join(f' {k}={v}' for k, v in more.items())
    return f'//@ run {name}: block={n}{extra} args={",".join(args)}\n'


class Files:
    def __init__(self):
        self.runs = collections.OrderedDict()
        self.kernels = collections.OrderedDict()
        self.flags = collections.defaultdict(str)

    def add(self, file, run, text):
        self.runs.setdefault(file, []).append(run)
        self.kernels.setdefault(file, []).append(text)

    def write(self, directory):
        for file in self.runs:
            text = '//@ test: run\n' + self.flags[file] + ''.join(self.runs[file]) + HEADER.format('sm_100a' if file.endswith('sm_100a') else 'sm_90') + '\n' + '\n'.join(self.kernels[file])
            pathlib.Path(directory, file + '.ptx').write_text(text)


FILES = Files()


def values_form(form, sources, target, initial=None, tolerance='', threads=None, extra=''):
    """A kernel that loads sources, executes the form and stores its result."""
    name = ident(form)
    count = threads or {1: 32, 2: 256, 3: 256}[len(sources)]
    args, params, body = [], [], ''
    for n, ty in enumerate(sources):
        elem, per = element(ty)
        if ty == 'pred':
            elem, per, size = 'u32', 1, 4
        else:
            size = bits(ty) // 8
        how = (initial or {}).get(n)
        if how is None:
            how = {0: 'edges', 1: 'edges(16)', 2: 'edges(7)'}[n] if count == 256 else None
        if how is None:
            how = 'edges'
        params.append(('abc'[n] + '_in', size))
        suffix = '_%s' % name
        args.append(f'{"abc"[n]}{suffix}:{elem}[{count * per}]={how}')
    out_elem, out_per = element(target)
    out_bits = bits(target)
    if target == 'pred':
        out_elem, out_per, out_bits = 'u32', 1, 32
    params.append(('out', out_bits // 8))
    args.append(f'out_{name}:{out_elem}[{count * out_per}]{tolerance}')
    body += pointers(params)
    operands = []
    for n, ty in enumerate(sources):
        if ty == 'pred':
            body += f'\tld.global.u32 %r{20 + n}, [%d{20 + n}];\n\tsetp.ne.u32 %p{n + 1}, %r{20 + n}, 0;\n'
            operands.append(f'%p{n + 1}')
        else:
            body += f'\tld.global.{raw(ty)} {reg(ty, str(n + 1))}, [%d{20 + n}];\n'
            operands.append(reg(ty, str(n + 1)))
    result = reg(target, '5')
    body += f'\t{form} {result}, {", ".join(operands)}{extra};\n'
    if target == 'pred':
        body += '\tselp.u32 %r5, 1, 0, %p5;\n'
        store = 'st.global.u32 [%d{}], %r5'
    else:
        store = 'st.global.' + raw(target) + ' [%d{}], ' + result
    body += '\t' + store.format(19 + len(params)) + ';\n'
    FILES.add(FILE, run_line(name, count, args), kernel(name, [p for p, _ in params], body))


BINARY = 'add sub mul div rem min max and or xor'.split()
UNARY = 'abs neg not cnot popc clz brev sqrt rcp rsqrt sin cos lg2 ex2 tanh bfind'.split()
BOUNDS = {'sin': '~4e-7', 'cos': '~4e-7', 'lg2': '~2ulp~2e-7', 'tanh': '~4096ulp', 'rsqrt': '~2ulp', 'ex2': '~2ulp',
          'rcp': '~1ulp', 'sqrt': '~2ulp', 'div': '~2ulp'}


def pure(form):
    """Handles forms from values to a value; says whether it could."""
    words = form.split('.')
    op, mods = words[0], words[1:]
    types = [w for w in mods if w in TYPES]
    ty = types[-1] if types else None
    approx = 'approx' in mods or 'full' in mods
    tolerance = BOUNDS.get(op, '') if approx else ''
    if op == 'tanh' and ty != 'f32':
        tolerance = '~1ulp~4.9e-4' if ty.startswith('f') else '~1ulp~3.9e-3'
    if approx and ty == 'f64':
        tolerance = '~8589934592ulp'
    if op in BINARY:
        target = ty
        init = None
        if op == 'mul' and 'wide' in mods:
            target = ty[0] + str(bits(ty) * 2)
        if op in ('and', 'or', 'xor') and ty == 'pred':
            return values_form(form, ['pred', 'pred'], 'pred', {0: '{0 1}', 1: '{0 0 1 1}'}, threads=4) or True
        if 'cc' in mods:
            return False
        if op in ('div',) and approx:
            init = {0: 'edges', 1: '{1 -1.5 3 0.1 1e10 -1e-10 7 inf 0 -0 1e38 -2e38 nan 0.5 2 1e-38}'}
            values_form(form, [ty, ty], target, init, tolerance)
            return True
        values_form(form, [ty, ty], target, init, tolerance)
        return True
    if op in UNARY:
        if op in ('popc', 'clz', 'bfind'):
            values_form(form, [ty], 'u32')
        elif op == 'not' and ty == 'pred':
            values_form(form, ['pred'], 'pred', {0: '{0 1}'}, threads=2)
        else:
            init = None
            if op in ('sin', 'cos'):
                init = {0: '{0 -0 1 -1 0.5 3.1 -3.1 6.2 -6.2 inf -inf nan 1e-40 2.5 0.001 1.57}'}
            if approx and op == 'ex2':
                init = {0: '{0 -0 1 -1 0.5 127.5 128 -126.5 -149 -150 inf -inf nan 1e-40 0.001 -20.25}'}
            values_form(form, [ty], ty, init, tolerance)
        return True
    if op in ('mad', 'fma', 'sad') and 'cc' not in mods:
        c = ty[0] + str(bits(ty) * 2) if 'wide' in mods else ty
        values_form(form, [ty, ty, c], c)
        return True
    if op in ('shl', 'shr'):
        values_form(form, [ty, 'u32'], ty, {1: '{0 1 4 7 8 15 16 17 31 32 33 63 64 65 255 4294967295}'.replace('{', '{')},
                    threads=256)
        return True
    if op == 'copysign':
        values_form(form, [ty, ty], ty)
        return True
    if op == 'testp':
        values_form(form, [ty], 'pred')
        return True
    if op in ('setp',):
        words_bool = [w for w in mods if w in ('and', 'or', 'xor')]
        if ty.endswith('x2'):
            return False
        values_form(form, [ty, ty] + (['pred'] if words_bool else []), 'pred')
        return True
    if op == 'set' and len(types) == 2:
        values_form(form, [ty, ty], types[0])
        return True
    if op == 'selp':
        values_form(form, [ty, ty, 'pred'], ty, {2: '{0 1}'}, threads=32)
        return True
    if op == 'slct':
        values_form(form, [types[0], types[0], types[1]], types[0])
        return True
    if op == 'mov' and ty != 'pred' and not any(v in mods for v in ('v2', 'v4')):
        values_form(form, [ty], ty)
        return True
    if op == 'mov' and ty == 'pred':
        values_form(form, ['pred'], 'pred', {0: '{0 1}'}, threads=2)
        return True
    if op == 'cvt' and mods[0] != 'pack':
        to, source = types
        out = to
        if bits(to) == 8 and not to.startswith('e'):
            out = to[0] + '16'
        if to.endswith('x2') and source == 'f32':
            values_form(form, [source, source], out)
        else:
            values_form(form, [source], out)
        return True
    if op == 'cvt':
        sources = ['s32', 's32'] + (['b32'] if 'b32' in mods else [])
        values_form(form, sources, 'b32')
        return True
    if op == 'prmt':
        values_form(form, ['b32', 'b32', 'b32'], 'b32',
                    {0: '{0x83828180}', 1: '{0x77767574}', 2: '{0x7531 0x6420 0xfedc 0x89ab 0x0123 0 1 2 3 0x8888}'}, threads=32)
        return True
    if op == 'lop3' and len(mods) == 1:
        for table in (0x80, 0xfe, 0x96, 0xca, 0x1b):
            pass
        values_form(form, ['b32', 'b32', 'b32'], 'b32', extra=', 0xca')
        return True
    if op == 'shf':
        values_form(form, ['b32', 'b32', 'u32'], 'b32',
                    {2: '{0 1 4 15 16 31 32 33 63 64 4294967295}'}, threads=256)
        return True
    if op == 'bfi':
        return False
    if op == 'bfe':
        values_form(form, [ty, 'u32', 'u32'], ty, {1: '{0 1 8 31 32 40 63 64 255 300}', 2: '{0 1 5 8 16 31 32 33 64 255}'}, threads=256)
        return True
    if op == 'bmsk':
        values_form(form, ['b32', 'b32'], 'b32', {0: '{0 1 8 31 32 33 255}', 1: '{0 1 5 8 16 31 32 33 40 255}'}, threads=70)
        return True
    if op == 'szext':
        values_form(form, [ty, 'u32'], ty, {1: '{0 1 5 8 16 31 32 33 40 255}'}, threads=160)
        return True
    if op == 'fns':
        values_form(form, ['b32', 'u32', 's32'], 'b32', {1: '{0 1 5 16 31}', 2: '{0 1 2 -1 -3 5}'}, threads=160)
        return True
    if op in ('dp4a', 'dp2a'):
        values_form(form, [types[0], types[1], types[0]], types[0])
        return True
    if op in ('mul24', 'mad24'):
        values_form(form, [ty] * (2 if op == 'mul24' else 3), ty)
        return True
    if op == 'clmad':
        values_form(form, [ty] * 3, ty)
        return True
    if re.match(r'v(add|sub|absdiff|min|max|avrg|shl|shr|mad|set)[24]?$', op):
        result = 'u32' if op.startswith('vset') else types[0]
        sources = types[:2] if op.startswith('vset') else types[1:3]
        values_form(form, list(sources) + [result], result)
        return True
    return False


def carry(form):
    """Carries in are made by an addition before, carries out are read by one after."""
    words = form.split('.')
    op, mods = words[0], words[1:]
    ty = [w for w in mods if w in TYPES][-1]
    name = ident(form)
    size = bits(ty) // 8
    has_c = op.startswith('mad')
    ins = 'abc' if has_c else 'ab'
    params = [(p + '_in', size) for p in ins] + [('out', size), ('carry', size)]
    args = [f'{p}_{name}:{ty}[256]=' + {'a': 'edges', 'b': 'edges(16)', 'c': 'edges(7)'}[p] for p in ins]
    args += [f'out_{name}:{ty}[256]', f'carry_{name}:{ty}[256]']
    r = lambda n: reg(ty, str(n))
    body = pointers(params)
    for n, p in enumerate(ins):
        body += f'\tld.global.{raw(ty)} {r(n + 1)}, [%d{20 + n}];\n'
    if op in ('addc', 'subc', 'madc'):
        # Odd threads have the carry or borrow set.
        flag = 'sub.cc' if op == 'subc' else 'add.cc'
        body += f'\tand.b32 %r31, %r30, 1;\n\tneg.s32 %r31, %r31;\n'
        if flag == 'add.cc':
            body += '\tadd.cc.u32 %r32, %r31, 1;\n'
        else:
            body += '\tneg.s32 %r31, %r31;\n\tsub.cc.u32 %r32, 0, %r31;\n'
    sources = ', '.join(r(n + 1) for n in range(len(ins)))
    body += f'\t{form} {r(5)}, {sources};\n'
    out = 20 + len(ins)
    after = 'subc' if op.startswith('sub') else 'addc'
    zero = '0'
    body += f'\t{after}.{raw(ty)} {r(6)}, {zero}, 0;\n' if 'cc' in mods else f'\tmov.{raw(ty)} {r(6)}, 0;\n'
    body += f'\tst.global.{raw(ty)} [%d{out}], {r(5)};\n\tst.global.{raw(ty)} [%d{out + 1}], {r(6)};\n'
    FILES.add(FILE, run_line(name, 256, args), kernel(name, [p for p, _ in params], body))
    return True


def memory(form):
    """Loads and stores: every thread has 32 bytes of its own in the space."""
    words = form.split('.')
    op, mods = words[0], words[1:]
    ty = [w for w in mods if w in TYPES][-1]
    vec = next((int(w[1]) for w in mods if w in ('v2', 'v4', 'v8')), 1)
    space = next((w for w in mods if w in ('global', 'shared', 'local', 'const', 'param', 'shared::cta')), '')
    name = ident(form)
    size = bits(ty) // 8
    wide = 'd' if bits(ty) == 64 else 'r'
    store = 'u64' if wide == 'd' else 'u32'
    step = 8 if wide == 'd' else 4
    regs = [f'%{wide}{n + 1}' for n in range(vec)]
    operand = regs[0] if vec == 1 else '{' + ', '.join(regs) + '}'
    threads = 4
    before, decl = '', ''
    if op in ('ld', 'ldu'):
        out_elem = {'u64': {'u': 'u64', 's': 's64', 'f': 'f64', 'b': 'b64'}, 'u32': {'u': 'u32', 's': 's32', 'f': 'f32', 'b': 'b32'}}[store][ty[0]]
        params = [('in', 32), ('out', vec * step)]
        elem = element(ty)[0]
        args = [f'in_{name}:{elem}[{threads * 32 // size}]=edges', f'out_{name}:{out_elem}[{threads * vec}]']
        if space == 'param':
            FILES.add(FILE, run_line(name, 1, [f'in:{elem}({32 // size})=edges', f'out_{name}:{out_elem}[{vec}]']),
                      f'.visible .entry {name}(.param .align 16 .b8 in[32], .param .u64 out)\n{{\n{REGS}'
                      f'\t{form} {operand}, [in+{vec * size if vec * size <= 16 else 0}];\n\tld.param.u64 %d21, [out];\n' +
                      ''.join(f'\tst.global.{store} [%d21+{n * step}], {r};\n' for n, r in enumerate(regs)) + '\tret;\n}\n')
            return True
        if space == 'const':
            before = f'.const .align 16 .b32 table_{name}[8] = {{0x80ff7f01, 0xfedcba98, 0x3f800000, 0xbff00000, 0x12345678, 0x7f800001, 0, 0xffffffff}};\n'
            body = f'\tld.param.u64 %d21, [out];\n\t{form} {operand}, [table_{name}+{size * vec if size * vec <= 16 else 0}];\n'
            FILES.add(FILE, run_line(name, 1, [f'out_{name}:{out_elem}[{vec}]']),
                      kernel(name, ['out'], body + ''.join(f'\tst.global.{store} [%d21+{n * step}], {r};\n' for n, r in enumerate(regs)), before))
            return True
        body = pointers(params)
        address = '%d20'
        if space in ('shared', 'local', 'shared::cta'):
            decl, address = own_memory(space.split(':')[0], threads)
            for n in range(4):
                body += f'\tld.global.u64 %d10, [%d20+{8 * n}];\n\tst.{space.split(":")[0]}.u64 [{address}+{8 * n}], %d10;\n'
        body += f'\t{form} {operand}, [{address}+{vec * size if vec * size <= 16 else 0}];\n'
        body += ''.join(f'\tst.global.{store} [%d21+{n * step}], {r};\n' for n, r in enumerate(regs))
        body = decl + body.replace('\tmov.u32 %r30, %tid.x;\n', '\tmov.u32 %r30, %tid.x;\n' + own_address(space.split(':')[0]))
        FILES.add(FILE, run_line(name, threads, args), kernel(name, [p for p, _ in params], body))
        return True
    params = [('in', vec * step), ('out', 32)]
    in_elem = ty[0] + str(step * 8)
    args = [f'in_{name}:{in_elem}[{threads * vec}]=edges', f'out_{name}:b{size * 8}[{threads * 32 // size}]']
    if space == 'param':
        return False
    body = pointers(params)
    body += ''.join(f'\tld.global.{store} {r}, [%d20+{n * step}];\n' for n, r in enumerate(regs))
    address = '%d21'
    if space in ('shared', 'local'):
        decl, address = own_memory(space, threads)
        for n in range(4):
            body += f'\tst.{space}.u64 [{address}+{8 * n}], 0;\n'
    body += f'\t{form} [{address}+{vec * size if vec * size <= 16 else 0}], {operand};\n'
    if space in ('shared', 'local'):
        for n in range(4):
            body += f'\tld.{space}.u64 %d10, [{address}+{8 * n}];\n\tst.global.u64 [%d21+{8 * n}], %d10;\n'
    body = decl + body.replace('\tmov.u32 %r30, %tid.x;\n', '\tmov.u32 %r30, %tid.x;\n' + own_address(space))
    FILES.add(FILE, run_line(name, threads, args), kernel(name, [p for p, _ in params], body))
    return True


def own_memory(space, threads):
    if space == 'local':
        return '\t.local .align 16 .b8 own[32];\n', '%d30'
    return f'\t.shared .align 16 .b8 own[{32 * threads}];\n', '%r34'


def own_address(space):
    if space == 'local':
        return '\tmov.u64 %d30, own;\n'
    if space == 'shared':
        return '\tmov.u32 %r34, own;\n\tmad.lo.u32 %r34, %r30, 32, %r34;\n'
    return ''


def atomic(form):
    """Every thread has an address of its own."""
    words = form.split('.')
    op, mods = words[0], words[1:]
    ty = [w for w in mods if w in TYPES][-1]
    name = ident(form)
    size = bits(ty) // 8
    elem, per = element(ty)
    is_cas = 'cas' in mods
    count = 256
    params = [('at', size), ('b', size)] + ([('c', size)] if is_cas else []) + [('old', size)]
    args = [f'at_{name}:{elem}[{count * per}]=edges', f'b_{name}:{elem}[{count * per}]=edges(16)']
    if is_cas:
        args.append(f'c_{name}:{elem}[{count * per}]=edges(7)')
    if op == 'atom':
        args.append(f'old_{name}:{elem}[{count * per}]')
    else:
        params.pop()
    body = pointers(params)
    body += f'\tld.global.{raw(ty)} {reg(ty, "1")}, [%d21];\n'
    if is_cas:
        body += f'\tld.global.{raw(ty)} {reg(ty, "2")}, [%d22];\n'
    address, decl, copy_back = '%d20', '', ''
    if 'shared' in mods:
        decl = f'\t.shared .align 16 .b8 own[{size * count}];\n'
        body += f'\tmov.u32 %r34, own;\n\tmad.lo.u32 %r34, %r30, {size}, %r34;\n'
        body += f'\tld.global.{raw(ty)} {reg(ty, "6")}, [%d20];\n\tst.shared.{raw(ty)} [%r34], {reg(ty, "6")};\n'
        address = '%r34'
        copy_back = f'\tld.shared.{raw(ty)} {reg(ty, "6")}, [%r34];\n\tst.global.{raw(ty)} [%d20], {reg(ty, "6")};\n'
    operands = f'[{address}], {reg(ty, "1")}' + (f', {reg(ty, "2")}' if is_cas else '')
    if op == 'atom':
        body += f'\t{form} {reg(ty, "5")}, {operands};\n'
        body += f'\tst.global.{raw(ty)} [%d{22 + is_cas}], {reg(ty, "5")};\n'
    else:
        body += f'\t{form} {operands};\n'
    FILES.add(FILE, run_line(name, count, args), kernel(name, [p for p, _ in params], decl + body + copy_back))
    return True


def bfi(form):
    ty = form.split('.')[-1]
    name = ident(form)
    size = bits(ty) // 8
    params = [('a', size), ('b', size), ('c', 4), ('e', 4), ('out', size)]
    args = [f'a_{name}:{ty}[160]=edges', f'b_{name}:{ty}[160]=edges(16)',
            f'c_{name}:u32[160]={{0 1 8 31 32 40 63 64 255}}', f'e_{name}:u32[160]={{0 1 5 8 16 31 32 33 64 255}}', f'out_{name}:{ty}[160]']
    body = pointers(params)
    for n, t in ((0, ty), (1, ty), (2, 'u32'), (3, 'u32')):
        body += f'\tld.global.{raw(t)} {reg(t, str(n + 1))}, [%d{20 + n}];\n'
    body += f'\t{form} {reg(ty, "5")}, {reg(ty, "1")}, {reg(ty, "2")}, %r3, %r4;\n\tst.global.{raw(ty)} [%d24], {reg(ty, "5")};\n'
    FILES.add(FILE, run_line(name, 160, args), kernel(name, [p for p, _ in params], body))
    return True


left = []
for form in dict.fromkeys(' '.join(open(path).read() for path in sys.argv[1:-1]).split()):
    op = form.split('.')[0]
    FILE = op
    handled = False
    if re.search('e[23]m[123]x2', form):
        FILE = op + '_sm_100a'
    if op in ('addc', 'subc', 'madc') or '.cc.' in form:
        handled = carry(form)
    elif op == 'bfi':
        handled = bfi(form)
    elif op in ('ld', 'st', 'ldu'):
        handled = memory(form)
    elif op in ('atom', 'red'):
        handled = atomic(form)
    else:
        handled = pure(form)
    if not handled:
        left.append(form)
FILES.write(sys.argv[-1])
print('\n'.join(left))
