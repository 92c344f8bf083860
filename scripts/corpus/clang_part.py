"""Output of clang's NVPTX back end, which differs from nvcc's in style: directives, names, debug data.

clang is called without CUDA's headers and libraries, so nothing but the compiler itself is needed.
"""

import shutil

from common import HERE, Failed, Job, Output, Result, Tools, run

CLANGS = ["clang-19", "clang"]
ALL = ["sm_75", "sm_80", "sm_90"]
NEW = ["sm_80", "sm_90"]

SOURCES = {"basics.cu": ALL, "calls.cu": ALL, "builtins.cu": ALL, "tensor.cu": NEW, "opencl.cl": NEW}

# The empty variant is the optimized one.
VARIANTS = {
    "": ["-O2"],
    "unoptimized": ["-O0"],
    "lineinfo": ["-O2", "-gline-tables-only"],
    "debug": ["-O0", "-g", "--cuda-noopt-device-debug"],
}


def clang_job(output: Output, source: str) -> Job:
    def make(tools: Tools, outputs: list[Output], work) -> Result:
        result = Result()
        clang = next(filter(None, map(shutil.which, CLANGS)), None)
        if not clang:
            result.failed[output] = "no clang found (Debian: apt install clang-19)"
            return result
        if source.endswith(".cl"):
            flags = ["-x", "cl", "-cl-std=CL2.0", "--target=nvptx64-nvidia-cuda", f"-march={output.arch}", "-S"]
            flags += [flag for flag in VARIANTS[output.variant] if not flag.startswith("--cuda")]
        else:
            flags = ["-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={output.arch}", "-nocudalib", "-nocudainc", "-S"]
            flags += ["-std=c++17", *VARIANTS[output.variant]]
        # Without a CUDA installation to look at, clang assumes an old PTX version.
        flags += ["-Xclang", "-target-feature", "-Xclang", "+ptx83", "-Wno-unknown-cuda-version"]
        path = work / output.filename
        try:
            run(tools, [clang, *flags, HERE / "clang" / source, "-o", path])
            result.made[output] = path
        except Failed as error:
            result.failed[output] = str(error)
        return result

    return Job([output], make)


def jobs(tools: Tools, sample: bool) -> list[Job]:
    return [
        clang_job(Output("clang", source.split(".")[0], arch, variant), source)
        for source, arches in SOURCES.items()
        for arch in arches
        for variant in VARIANTS
        if not sample or (arch == "sm_80" and source != "opencl.cl")
    ]
