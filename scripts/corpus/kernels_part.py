"""Small CUDA C++ kernels of our own (scripts/corpus/kernels), one file for each area of the language."""

from common import HERE, Job, Output, Tools, nvcc_job

ALL = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]

# file -> (architectures, flags)
SOURCES = {
    "memory": (ALL, []),
    "atomics": (ALL, ["-std=c++17"]),
    "textures": (ALL, []),
    "surfaces": (ALL, []),
    "wmma": (ALL, []),
    "matrix": (ALL + ["sm_90a"], []),
    "video": (ALL, []),
    "low_precision": (ALL + ["sm_89", "sm_100a", "sm_120a"], []),
    "groups": (ALL, ["-std=c++17"]),
    "async_copy": (ALL, ["-std=c++17"]),
    "runtime": (ALL, []),
    "calls": (ALL, []),
    "integers": (ALL, []),
    "mathematics": (ALL, []),
    "warps": (ALL, []),
    "launches": (ALL, []),
    "debugging": (ALL, []),
    "separate": (ALL, ["-rdc=true"]),
    "nested_launch": (ALL, ["-rdc=true"]),
}

# variant -> flags. The first word of a file name after the architecture says which.
VARIANTS = {
    "lineinfo": ["-lineinfo"],
    "debug": ["-G"],
    "fast": ["-use_fast_math"],
    "rdc": ["-rdc=true"],
    "unoptimized": ["-Xcicc", "-O0"],
}

# Further variants, on an old and on a new target: nvcc has a compiler for each.
EXTRA = {
    "lineinfo": ["debugging", "memory", "calls", "groups", "separate", "atomics"],
    "debug": ["debugging", "memory", "calls", "groups", "separate", "atomics", "textures", "runtime", "async_copy", "warps", "low_precision"],
    "fast": ["mathematics", "low_precision"],
    "rdc": ["memory", "calls", "runtime", "launches"],
    "unoptimized": ["debugging", "memory", "calls", "warps"],
}
EXTRA_ARCHES = ["sm_80", "sm_100"]

SAMPLE = ["memory", "textures", "calls", "warps", "matrix", "separate"]


def jobs(tools: Tools, sample: bool) -> list[Job]:
    made = []

    def add(name: str, arch: str, variant: str) -> None:
        flags = SOURCES[name][1] + VARIANTS.get(variant, [])
        made.append(nvcc_job(Output("kernels", name, arch, variant), HERE / "kernels" / f"{name}.cu", flags))

    if sample:
        for name in SAMPLE:
            add(name, "sm_90", "")
        for arch in EXTRA_ARCHES:
            add("debugging", arch, "lineinfo")
            add("debugging", arch, "debug")
        return made
    for name, (arches, _) in SOURCES.items():
        for arch in arches:
            add(name, arch, "")
    for variant, names in EXTRA.items():
        for name in names:
            for arch in EXTRA_ARCHES:
                add(name, arch, variant)
    return made
