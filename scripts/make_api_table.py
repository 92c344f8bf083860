#!/usr/bin/env python3
"""Writes crates/cuda/api/driver.txt and runtime.txt: every function of the CUDA driver and runtime with its signature.

The tables are made from NVIDIA's headers and the names that its libraries export; only names, versions and types are kept.

    scripts/make_api_table.py "$(scripts/cuda-runtimes --print-dir)"
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

# Types of other libraries that the headers use, so that those libraries need not be installed.
STAND_INS = {
    "GL/gl.h": "typedef unsigned int GLuint; typedef unsigned int GLenum;",
    "EGL/egl.h": "typedef int EGLint;",
    "EGL/eglext.h": "typedef void *EGLImageKHR; typedef void *EGLStreamKHR; typedef void *EGLSyncKHR;",
    "vdpau/vdpau.h": "#include <stdint.h>\ntypedef uint32_t VdpDevice; typedef int VdpGetProcAddress;"
    " typedef uint32_t VdpVideoSurface; typedef uint32_t VdpOutputSurface;",
    # Not in the packages; the type definitions of its functions are.
    "cudaProfiler.h": "#include <cuda.h>\ntypedef enum CUoutput_mode_enum { CU_OUT_KEY_VALUE_PAIR = 0 } CUoutput_mode;",
    "cuda_runtime.h": '#include "cuda_runtime_api.h"',
}

DRIVER_HEADERS = ["cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h"]
DRIVER_TYPEDEFS = ["cudaTypedefs.h", "cudaGLTypedefs.h", "cudaEGLTypedefs.h", "cudaVDPAUTypedefs.h", "cudaProfilerTypedefs.h"]
RUNTIME_HEADERS = ["cuda_runtime_api.h", "cuda_gl_interop.h", "cuda_egl_interop.h", "cuda_vdpau_interop.h"]

# The runtime's headers are read in each of these ways, because macros rename functions.
RUNTIME_WAYS = [[], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"], ["-D__CUDA_API_VERSION_INTERNAL"]]

HOST_RUNTIME = ["-D__CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__", "-D__CUDA_INTERNAL_COMPILATION__", "-DCUDARTAPI="]

# Kept for programs that were built with an older version, and declared as if it were new.
UNCHANGED = {(12, "cudaGetDeviceProperties")}

# Exported, and declared in a header that is not in the packages or only within what the compiler writes.
UNDECLARED = {
    "__cudaGetKernel": "cudaError_t(cudaKernel_t *kernel, const void *entry)",
    "__cudaLaunchKernel": "cudaError_t(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream)",
    "__cudaLaunchKernel_ptsz": "cudaError_t(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream)",
    "__cudaPushCallConfiguration": "unsigned int(dim3 gridDim, dim3 blockDim, size_t sharedMem, CUstream_st *stream)",
    "cudaProfilerInitialize": "cudaError_t(const char *configFile, const char *outputFile, cudaOutputMode_t outputMode)",
    "cudaProfilerStart": "cudaError_t(void)",
    "cudaProfilerStop": "cudaError_t(void)",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path, help="what scripts/cuda-runtimes --print-dir prints")
    parser.add_argument("--output", type=pathlib.Path, metavar="DIR",
                        default=pathlib.Path(__file__).resolve().parent.parent / "crates/cuda/api",
                        help="where to write (default: crates/cuda/api)")
    arguments = parser.parse_args()

    majors = [Major(number, arguments.directory / str(number)) for number in (11, 12, 13)]
    (arguments.output / "driver.txt").write_text(driver_table(majors[-1]))
    (arguments.output / "runtime.txt").write_text(runtime_table(majors))


class Major:
    """The headers and the runtime library of one major version."""

    def __init__(self, number, directory):
        self.number = number
        self.include = directory / "include"
        symbols = run(["readelf", "--wide", "--dyn-syms", directory / "lib/libcudart.so"])
        self.exported = sorted(set(re.findall(r"FUNC +GLOBAL +DEFAULT +\d+ (\w+)@", symbols)))

    def preprocess(self, headers, flags=(), language="c"):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in STAND_INS.items():
                if name == "cuda_runtime.h" and language == "c++":
                    continue
                path = pathlib.Path(folder) / name
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            text = "".join(f"#include <{header}>\n" for header in headers)
            return run(["cc", "-E", "-P", "-w", "-x", language, *flags, f"-I{folder}", f"-I{self.include}", "-"], text)

    def version(self):
        """For example 13.4."""
        text = self.preprocess(["cuda.h"], ["-dM"])
        number = int(re.search(r"#define CUDA_VERSION (\d+)", text)[1])
        return f"{number // 1000}.{number % 1000 // 10}"


def run(command, text=None):
    return subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.PIPE).stdout


def declarations(text):
    """The top-level declarations of a preprocessed C text, without bodies, attributes and line breaks."""
    text = re.sub(r'extern\s*"C"\s*\{', "", text)
    while True:
        # Bodies become `{}`, from the inside out.
        shorter = re.sub(r"\{[^{}]+\}", "{}", text)
        if shorter == text:
            break
        text = shorter
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", "", text)
    for part in re.split(r";|\{\}", text):
        yield " ".join(part.split()).lstrip("} ")


def prototypes(text):
    """Name to signature of the functions declared in a preprocessed text."""
    found = {}
    for declaration in declarations(text):
        match = re.fullmatch(r"(?:extern )?(?:\"C\" )?(?P<result>[\w *]+?)(?P<name>\b_*cu\w+) ?\((?P<parameters>.*)\)(?: throw ?\(\))?",
                             declaration)
        if match and not re.search(r"\b(typedef|static|inline|return)\b", match["result"]):
            found[match["name"]] = signature(match["result"], match["parameters"])
    return found


def signature(result, parameters):
    parameters = [spell(parameter) for parameter in split(parameters)]
    return f"{spell(result)}({', '.join(parameters)})"


def split(parameters):
    """Splits at the commas that are not in parentheses."""
    parts, depth = [""], 0
    for character in parameters:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def spell(declarator):
    """One spelling for one type: no `struct`, `unsigned int` in full, the star at the name."""
    declarator = re.sub(r"\b(struct|enum|union|extern)\b", " ", declarator)
    declarator = declarator.partition("=")[0]
    declarator = re.sub(r"\bunsigned\b(?! *(int|long|char|short)\b)", "unsigned int", declarator)
    declarator = " ".join(declarator.split())
    declarator = re.sub(r" ?\* ?", "*", declarator)
    return re.sub(r"(?<=[\w])(\*)", r" \1", declarator).strip()


def driver_table(major):
    text = major.preprocess(DRIVER_HEADERS, ["-D__CUDA_API_VERSION_INTERNAL"])
    functions = prototypes(text)
    text = major.preprocess(DRIVER_TYPEDEFS, ["-D__CUDA_API_VERSION_INTERNAL"])
    typedefs = {}
    for declaration in declarations(text):
        match = re.fullmatch(r"typedef (?P<result>[\w *]+?)\( ?\* ?PFN_(?P<name>cu\w+?)_v(?P<version>\d+)(?P<flavour>_ptds|_ptsz)?\) ?"
                             r"\((?P<parameters>.*)\)", declaration)
        if match:
            key = (match["name"], match["flavour"] or "")
            typedefs.setdefault(key, {})[int(match["version"])] = signature(match["result"], match["parameters"])

    # Symbols of one base name in order of their suffix belong to its versions in order.
    families = {}
    for name in functions:
        match = re.fullmatch(r"(\w+?)(?:_v(\d+))?(_ptds|_ptsz)?", name)
        families.setdefault((match[1], match[3] or ""), []).append((int(match[2] or 1), name))
    lookups = {name: [] for name in functions}
    for key, versions in typedefs.items():
        base, flavour = key
        family = sorted(families.get(key, []))
        if not family:
            # Declared by a header that is not in the packages.
            family = [(1, base)]
            functions[base] = versions[min(versions)]
            lookups[base] = []
        versions = sorted(versions)
        if len(versions) != len(family):
            sys.exit(f"{base}{flavour}: versions {versions} for the symbols {family}")
        for version, (_, name) in zip(versions, family):
            lookups[name].append((base, version, flavour))
    # The one name that the header gives to a function of another name.
    lookups["cuGraphInstantiateWithFlags"].append(("cuGraphInstantiate", 12000, ""))

    lines = [
        f"# The functions of the CUDA driver, made by scripts/make_api_table.py from the headers of CUDA {major.version()}.",
        "# symbol | names and versions under which cuGetProcAddress finds it, per-thread flavours marked | signature",
    ]
    for name in sorted(functions):
        answers = ", ".join(f"{base} {version}{flavour.replace('_', ' ')}" for base, version, flavour in sorted(lookups[name]))
        lines.append(f"{name} | {answers or '-'} | {functions[name]}")
    return "\n".join(lines) + "\n"


def runtime_table(majors):
    layouts = Layouts(majors)
    # (symbol, types) to the majors that export it so, and the signature in each, which may have other names.
    rows = {}
    previous = {}
    for major in majors:
        declared = {}
        for way in RUNTIME_WAYS:
            declared |= prototypes(major.preprocess(RUNTIME_HEADERS, way))
        declared |= prototypes(major.preprocess(["crt/host_runtime.h"], HOST_RUNTIME, "c++"))
        declared = {name: layouts.mark(text, major) for name, text in declared.items()
                    if (major.number, name) not in UNCHANGED} | UNDECLARED
        current = {name: declared.get(name) or previous.get(name) or "-" for name in major.exported}
        for name, text in current.items():
            row = rows.setdefault((name, without_names(text)), ([], []))
            row[0].append(major.number)
            row[1].append(text)
        previous = current

    versions = ", ".join(major.version() for major in majors)
    lines = [
        f"# The functions of the CUDA runtime, made by scripts/make_api_table.py from the libraries and headers of CUDA {versions}.",
        "# symbol | major versions that export it | signature, - where no header has one",
        "# A type whose layout has changed since carries the last version that has it so: cudaDeviceProp12 is cudaDeviceProp of CUDA 12.",
    ]
    for (name, _), (numbers, texts) in sorted(rows.items(), key=lambda row: (row[0][0], row[1][0])):
        lines.append(f"{name} | {' '.join(map(str, numbers))} | {texts[-1]}")
    return "\n".join(lines) + "\n"


def without_names(text):
    return re.sub(r"(?<=[\w*])[ ]?\b\w+(\[\d*\])?(?=[,)])", "", text)


class Layouts:
    """Which structs of the runtime differ between the versions: in size, or in the offset of a field of the same name."""

    def __init__(self, majors):
        measured = {major.number: self.measure(major) for major in majors}
        # (struct, major) to the last major with the same layout, and struct to the last major that has it.
        self.last, self.newest = {}, {}
        for number, structs in measured.items():
            for name, layout in structs.items():
                self.newest[name] = number
                self.last[name, number] = max(later for later in measured if later >= number and name in measured[later]
                                              and self.same(layout, measured[later][name]))

    @staticmethod
    def same(one, other):
        return one["sizeof"] == other["sizeof"] and all(one[field] == other[field] for field in one.keys() & other.keys())

    @staticmethod
    def measure(major):
        """Struct to field to offset, and the size under the name `sizeof`."""
        text = major.preprocess(RUNTIME_HEADERS)
        program = [text, "int printf(const char *, ...);", "int main(void) {"]
        for match in re.finditer(r"(typedef )?\b(struct|union)\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*\{", text):
            names, alias = fields(text, match.end())
            name = alias if match[1] else f"{match[2]} {match[3]}"
            program.append(f'printf("{name} sizeof %zu\\n", sizeof({name}));')
            for field in names:
                program.append(f'printf("{name} {field} %zu\\n", __builtin_offsetof({name}, {field}));')
        program.append("return 0; }")
        with tempfile.TemporaryDirectory() as folder:
            binary = pathlib.Path(folder) / "layouts"
            run(["cc", "-w", "-x", "c", "-o", binary, "-"], "\n".join(program))
            lines = run([binary]).splitlines()
        structs = {}
        for line in lines:
            *_, name, field, offset = line.split()
            structs.setdefault(name, {})[field] = int(offset)
        return structs

    def mark(self, text, major):
        """The signature with the names of types that have another layout in a later version changed."""

        def one(match):
            last = self.last.get((match[0], major.number))
            return match[0] if last is None or last == self.newest[match[0]] else f"{match[0]}{last}"

        return re.sub(r"\w+", one, text)


def fields(text, start):
    """The fields of the struct whose body begins at `start`, without those of nested bodies; and the word behind the body."""
    depth, end = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    body = text[start : end - 1]
    while re.search(r"\{[^{}]*\}", body):
        body = re.sub(r"\{[^{}]*\}", "", body)
    names = []
    for declaration in body.split(";"):
        match = re.fullmatch(r".*\W(\w+)\s*(\[[^\]]*\]\s*)*", declaration, re.DOTALL)
        if match and "(" not in declaration and not re.match("struct$|union$|reserved", match[1]):
            names.append(match[1])
    return names, re.match(r"[\s*]*(\w*)", text[end:])[1]


if __name__ == "__main__":
    main()
