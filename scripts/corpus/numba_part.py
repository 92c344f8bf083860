"""Numba kernels; the kernels themselves are in numba_kernels.py."""

from common import HERE, Job, Output, Tools, script_job

ALL = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]

KERNELS = [
    "saxpy", "matmul_shared", "dynamic_shared", "atomics", "math_functions", "fast_math", "half_precision",
    "grid_sync", "local_arrays", "shuffles_votes", "device_functions", "integer_intrinsics", "barriers_fences",
    "constant_array", "other_types", "print_values", "raises", "strided", "records", "device_only",
]

# Debug information for a few, on an old and a new target: Numba's differs from nvcc's.
WITH_DEBUG = ["saxpy", "matmul_shared", "dynamic_shared", "local_arrays", "raises"]
DEBUG_ARCHES = ["sm_80", "sm_100"]

SAMPLE = ["saxpy", "matmul_shared", "atomics", "shuffles_votes", "device_functions"]


def jobs(tools: Tools, sample: bool) -> list[Job]:
    # One process for each architecture.
    made = []
    for arch in ["sm_80", "sm_100"] if sample else ALL:
        outputs = [Output("numba", name, arch) for name in KERNELS if not sample or name in SAMPLE]
        if arch in DEBUG_ARCHES:
            names = [name for name in WITH_DEBUG if not sample or name in SAMPLE]
            outputs += [Output("numba", name, arch, variant) for name in names for variant in ("lineinfo", "debug")]
        made.append(script_job(HERE / "numba_kernels.py", outputs))
    return made
