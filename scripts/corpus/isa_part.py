"""Every inline-assembly form of CCCL's headers, as plain PTX.

CCCL wraps the newer PTX instructions one by one (cuda::ptx), with each legal combination of
qualifiers in its own asm statement. Each statement becomes one kernel here: its operands are loaded
from one buffer, its results stored to another. Nothing is compiled, so the forms arrive exactly as
written, also those which no compiler emits of its own accord.

A comment above each wrapper names the PTX ISA version and the architectures it needs. A form is
emitted for each architecture it claims to support; what ptxas then refuses is dropped and noted.

The rest of the instruction set, in so far as one statement can show it, is in isa_forms.txt.
"""

import itertools
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from common import HERE, Job, Output, Result, Tools, run

# One of each feature set. sm_100f stands for the family-specific targets.
ARCHES = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_107a", "sm_110a", "sm_120a"]

# Other CCCL headers with asm statements worth having. They carry no notes on the architectures, so
# every form is tried for a few of them, and ptxas alone decides.
OTHER_HEADERS = [
    "cuda/std/__atomic/functions/cuda_ptx_generated.h",
    "cuda/std/__numeric/saturating_cast.h",
    "cuda/std/__numeric/saturating_add.h",
    "cuda/std/__numeric/saturating_sub.h",
    "cuda/std/__simd/specializations/simd_intrinsics.h",
    "cuda/std/__simd/specializations/fp32x2_intrinsics.h",
    "cuda/__annotated_ptr/createpolicy.h",
    "cuda/__bit/bitfield.h",
    "cuda/__functional/for_each_canceled.h",
    "cuda/__memcpy_async/cp_async_shared_global.h",
    "cuda/__memory/address_space.h",
    "cuda/__numeric/add_overflow.h",
    "cuda/__numeric/sub_overflow.h",
    "cub/detail/strong_load.cuh",
    "cub/detail/strong_store.cuh",
    "cub/detail/prefetch.cuh",
    "cub/util_ptx.cuh",
    "cub/block/block_load_to_shared.cuh",
    "cub/device/dispatch/kernels/kernel_transform.cuh",
    "cub/warp/specializations/warp_reduce_shfl.cuh",
    "cub/warp/specializations/warp_scan_shfl.cuh",
]
OTHER_ARCHES = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"]

SAMPLE_HEADERS = ["cp_async_bulk", "mbarrier_try_wait", "tcgen05_mma", "st_async", "ld", "red_async", "fence"]
SAMPLE_ARCHES = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]
SAMPLE_GROUPS = ["load", "store", "cache", "barrier", "warp", "compare", "texture"]

# The register type for each operand constraint. "p" is our own, for isa_forms.txt.
CONSTRAINTS = {"h": "b16", "r": "b32", "l": "b64", "q": "b128", "f": "f32", "d": "f64", "p": "pred"}

# Values for operands that must be immediates ("n"), where 0 would be refused, by the instruction.
IMMEDIATES = [
    ("fence.proxy.tensormap", 128),  # the size of a tensor map
    ("setmaxnreg", 32),
    ("cp.async.c", 16),  # bytes
]


@dataclass
class Form:
    """One asm statement."""

    line: int
    template: str
    operands: list[str]  # the constraints
    isa: int = 0  # 86 is PTX ISA 8.6; 0 when the source does not say
    arches: list[str] = field(default_factory=list)  # "sm_90", "sm_100a" ...; empty when it does not say
    guessed: bool = False  # one of many combinations, which need not be legal

    def text(self) -> str:
        """The template on one line, for notes."""
        return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", self.template)).strip()


STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


def unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(1)), text)


def split_asm(source: str, start: int) -> list[str]:
    """The colon-separated sections of the asm statement whose '(' is at start."""
    sections, current, depth, i = [], [], 0, start
    while i < len(source):
        char = source[i]
        if char == '"':
            match = STRING.match(source, i)
            current.append(match.group(0))
            i = match.end()
            continue
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                break
        if char == ":" and depth == 1:
            sections.append("".join(current))
            current = []
        elif not (char == "(" and depth == 1 and i == start):
            current.append(char)
        i += 1
    sections.append("".join(current))
    return sections


def parse_operands(section: str) -> list[str]:
    """The constraints in an operand section."""
    operands, i = [], 0
    while match := re.compile(r'\s*,?\s*"([=+&a-zA-Z]+)"\s*\(').match(section, i):
        depth, j = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(section[j], 0)
            j += 1
        operands.append(match.group(1))
        i = j
    if section[i:].strip():
        raise ValueError(f"cannot read the operands: {section[i:].strip()}")
    return operands


def plain_string(raw: re.Match) -> str:
    """An ordinary string literal for a raw one, broken into one piece a line to keep line numbers."""
    text = raw.group(2).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", '\\n"\n"') + '"'


def parse_header(path: Path) -> list[Form]:
    source = re.sub(r'R"(\w*)\((.*?)\)\1"', plain_string, path.read_text(), flags=re.DOTALL)
    # The wrappers' own documentation, which is where the requirements stand. Line breaks can fall
    # anywhere in it.
    requirements = []
    for comment in re.finditer(r"/\*(.*?)\*/", source, re.DOTALL):
        match = re.search(r"PTX ISA (\d+)(?:-\d+)?((?:,? SM_\d+[af]?)*)", re.sub(r"\s+", " ", comment.group(1)))
        if match:
            arches = [name.lower() for name in re.findall(r"SM_\d+[af]?", match.group(2))]
            requirements.append((comment.start(), int(match.group(1)), arches or ["sm_50"]))
    # Comments must not hide or fake an asm statement, and lines must keep their numbers.
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), source, flags=re.DOTALL)
    code = re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*', lambda m: m.group(1) or " " * len(m.group(0)), code)
    forms = []
    for match in re.finditer(r"\basm\s*(?:volatile|__volatile__)?\s*\(", code):
        sections = split_asm(code, match.end() - 1)
        template = "".join(unescape(s) for s in STRING.findall(sections[0]))
        if STRING.sub("", sections[0]).strip():
            continue  # put together by the preprocessor, so that the text is not here
        if template.count("{") != template.count("}"):
            continue  # a piece of a block that further statements continue
        operands = []
        for section in sections[1:3]:
            operands += parse_operands(section)
        before = [(isa, arches) for position, isa, arches in requirements if position < match.start()]
        isa, arches = before[-1] if before else (0, [])
        forms.append(Form(source.count("\n", 0, match.start()) + 1, template, operands, isa, arches))
    return forms


def parse_forms(path: Path) -> dict[str, list[Form]]:
    """The groups of isa_forms.txt, with the alternatives written out."""
    groups: dict[str, list[Form]] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            forms = groups.setdefault(heading.group(1), [])
            continue
        template, constraints = line.rsplit(" |", 1)
        # Splitting at the alternatives leaves the text between them at the even places.
        pieces = re.split(r"<([^<>]*)>", template)
        choices = [piece.split("|") if i % 2 else [piece] for i, piece in enumerate(pieces)]
        for chosen in itertools.product(*choices):
            forms.append(Form(number, "".join(chosen), constraints.split(), guessed=True))
    return groups


def supported(form: Form, arch: str) -> bool:
    """Whether the form's documentation says that it exists for this architecture."""
    if not form.arches:
        return True
    number, suffix = int(re.sub(r"\D", "", arch)), arch[-1] if arch[-1] in "af" else ""
    for name in form.arches:
        wanted, kind = int(re.sub(r"\D", "", name)), name[-1] if name[-1] in "af" else ""
        if kind == "" and number >= wanted:
            return True
        if kind == "a" and suffix == "a" and number == wanted:
            return True
        if kind == "f" and suffix in ("a", "f") and number >= wanted and number // 10 == wanted // 10:
            return True
    return False


def kernel(name: str, form: Form) -> str:
    """A kernel that loads the form's inputs, executes it, and stores its outputs."""
    registers, loads, stores, names = [], [], [], []
    counts: dict[str, int] = {}
    for constraint in form.operands:
        letter = constraint.strip("=+&")
        if letter in ("n", "C"):
            value = next((value for start, value in IMMEDIATES if start in form.template), 0)
            names.append(str(value))
            continue
        register = f"%{letter}{counts.get(letter, 0)}"
        counts[letter] = counts.get(letter, 0) + 1
        names.append(register)
        offset = 16 * (len(names) - 1)
        if letter == "p":
            # Predicates have no memory representation; they travel as words.
            load = [f"\tld.global.b32 \t%word, [%in+{offset}];", f"\tsetp.ne.b32 \t{register}, %word, 0;"]
            store = [f"\tselp.b32 \t%word, 1, 0, {register};", f"\tst.global.b32 \t[%out+{offset}], %word;"]
        else:
            load = [f"\tld.global.{CONSTRAINTS[letter]} \t{register}, [%in+{offset}];"]
            store = [f"\tst.global.{CONSTRAINTS[letter]} \t[%out+{offset}], {register};"]
        if constraint[0] != "=":
            loads += load
        if constraint[0] in "=+":
            stores += store
    registers = [f"\t.reg .{CONSTRAINTS[letter]} \t%{letter}<{count}>;" for letter, count in counts.items()]
    if "p" in counts:
        registers.append("\t.reg .b32 \t%word;")

    def substitute(match: re.Match) -> str:
        return "%" if match.group(1) == "%" else names[int(match.group(1))]

    # A template may end in a comment, so it gets a line of its own.
    body = re.sub(r"%(%|\d+)", substitute, form.template).strip()
    lines = [f".visible .entry {name}(", f"\t.param .u64 {name}_in,", f"\t.param .u64 {name}_out", ")", "{"]
    lines += ["\t.reg .b64 \t%in, %out;", *registers]
    if loads:
        lines += [f"\tld.param.u64 \t%in, [{name}_in];", "\tcvta.to.global.u64 \t%in, %in;", *loads]
    lines += ["\t" + line.strip() for line in body.splitlines()]
    if stores:
        lines += [f"\tld.param.u64 \t%out, [{name}_out];", "\tcvta.to.global.u64 \t%out, %out;", *stores]
    lines += ["\tret;", "}", ""]
    return "\n".join(lines)


def latest_isa(tools: Tools) -> int:
    """The newest PTX ISA version that ptxas knows, as 94 for 9.4."""
    match = re.search(r"release (\d+)\.(\d+)", run(tools, [tools.ptxas, "--version"]))
    major, minor = int(match.group(1)), int(match.group(2))
    # PTX ISA 9.x came with CUDA 13.x.
    return (major - 4) * 10 + minor


def emit(tools: Tools, header: str, forms: list[Form], output: Output, work: Path, result: Result):
    """Writes one PTX file, leaving out the forms that ptxas refuses."""
    isa = latest_isa(tools)
    notes = result.notes.setdefault(output, [])
    seen: dict[str, int] = {}
    kernels = []
    for form in forms:
        if not supported(form, output.arch):
            continue
        if form.isa > isa:
            notes.append(f"line {form.line}: needs PTX ISA {form.isa / 10}: {form.text()}")
            continue
        # Several statements can begin on one line.
        name = f"{header}_{form.line}"
        seen[name] = seen.get(name, 0) + 1
        kernels.append((form, kernel(f"{name}_{seen[name]}", form)))
    path = work / output.filename
    while kernels:
        lines = [f"// From {header}: one kernel for each inline-assembly statement.", ""]
        lines += [f".version {isa // 10}.{isa % 10}", f".target {output.arch}", ".address_size 64", ""]
        first = []  # the line on which each kernel begins
        for form, text in kernels:
            first.append(len(lines) + 1)
            lines += [f"// line {form.line}", *text.splitlines(), ""]
        path.write_text("\n".join(lines))
        # run() keeps only the first error; here all of them are wanted, with their lines.
        done = subprocess.run(
            [str(tools.ptxas), f"-arch={output.arch}", str(path), "-o", "/dev/null"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )
        if done.returncode == 0:
            result.made[output] = path
            return
        refused: dict[int, str] = {}
        for number, message in re.findall(r"line (\d+); (?:error|fatal)\s*:\s*(.*)", done.stdout):
            index = max((i for i, line in enumerate(first) if line <= int(number)), default=None)
            if index is not None:
                refused.setdefault(index, message)
        if not refused:
            # Errors of the code generator name the kernel instead of a line.
            for i, (_, text) in enumerate(kernels):
                name = re.search(r"\.entry (\w+)", text).group(1)
                if match := re.search(rf"[^\n]*\b{name}\b[^\n]*", done.stdout):
                    refused[i] = match.group(0)
        if not refused:
            result.failed[output] = done.stdout.strip().splitlines()[0] if done.stdout.strip() else "ptxas failed"
            return
        for i, message in sorted(refused.items()):
            form = kernels[i][0]
            # Where the source states no requirements, an older target's refusal is no news.
            if form.arches or not (form.guessed or re.search(r"requires|not supported on", message)):
                notes.append(f"line {form.line}: {message}: {form.text()}")
        kernels = [k for i, k in enumerate(kernels) if i not in refused]
    result.empty.append(output)


def forms_job(name: str, forms: list[Form], arches: list[str]) -> Job:
    def make(tools: Tools, outputs: list[Output], work: Path) -> Result:
        result = Result()
        for output in outputs:
            emit(tools, name, forms, output, work, result)
        return result

    return Job([Output("isa", name, arch) for arch in arches], make)


def jobs(tools: Tools, sample: bool) -> list[Job]:
    made = []
    for path in sorted((tools.cccl / "cuda/__ptx/instructions/generated").glob("*.h")):
        if sample and path.stem not in SAMPLE_HEADERS:
            continue
        forms = parse_header(path)
        arches = [a for a in (SAMPLE_ARCHES if sample else ARCHES) if any(supported(f, a) for f in forms)]
        made.append(forms_job(path.stem, forms, arches))
    for group, forms in parse_forms(HERE / "isa_forms.txt").items():
        if sample and group not in SAMPLE_GROUPS:
            continue
        made.append(forms_job(f"forms_{group}", forms, ["sm_90a"] if sample else OTHER_ARCHES))
    if not sample:
        for header in OTHER_HEADERS:
            if (tools.cccl / header).exists():
                made.append(forms_job("cccl_" + Path(header).stem, parse_header(tools.cccl / header), OTHER_ARCHES))
    return made
