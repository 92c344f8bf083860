"""Output of NVRTC, the run-time compiler: sources of its own, and some that the kernels part has too."""

from common import HERE, Job, Output, Tools, script_job

ALL = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]
KERNELS = ["jit", "standard_library", "debugging", "calls", "warps", "integers", "textures", "surfaces", "mathematics", "low_precision", "wmma"]

# Variants, on an old and on a new target.
EXTRA = {
    "lineinfo": ["jit", "standard_library", "debugging", "calls"],
    "debug": ["jit", "standard_library", "debugging", "calls", "warps"],
    "rdc": ["jit", "calls"],
    "fast": ["jit", "mathematics"],
}
EXTRA_ARCHES = ["sm_80", "sm_100"]

SAMPLE = ["jit", "debugging"]


def jobs(tools: Tools, sample: bool) -> list[Job]:
    made = []
    for arch in EXTRA_ARCHES if sample else ALL:
        outputs = [Output("nvrtc", name, arch) for name in KERNELS if not sample or name in SAMPLE]
        if arch in EXTRA_ARCHES:
            for variant, names in EXTRA.items():
                outputs += [Output("nvrtc", name, arch, variant) for name in names if not sample or name in SAMPLE]
        made.append(script_job(HERE / "nvrtc_compile.py", outputs))
    return made
