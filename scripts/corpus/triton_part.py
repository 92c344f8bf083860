"""Triton kernels; the kernels themselves are in triton_kernels.py."""

from common import HERE, Job, Output, Tools, script_job

ALL = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]

# Kernel -> architectures. Triton always takes the architecture-specific targets from sm_90 on.
KERNELS = {
    "vector_add": ALL,
    "softmax": ALL,
    "matmul_f16": ALL,
    "matmul_bf16": ALL,
    "matmul_tf32": ALL,
    "matmul_s8": ["sm_80", "sm_90a", "sm_120a"],
    "matmul_fp8": ["sm_90a", "sm_100a", "sm_120a"],
    "matmul_descriptors": ALL,
    "matmul_warp_specialized": ["sm_90a", "sm_100a"],
    "matmul_scaled_mxfp8": ["sm_100a", "sm_120a"],
    "layer_norm": ALL,
    "attention": ALL,
    "reductions": ALL,
    "scans": ALL,
    "atomics": ALL,
    "gather_scatter": ALL,
    "sort_histogram": ALL,
    "math": ALL,
    "print_and_assert": ALL,
    "random_numbers": ALL,
    "transpose": ALL,
    "inline_assembly": ALL,
    "conversions": ["sm_90a", "sm_100a", "sm_120a"],
}

SAMPLE = ["vector_add", "softmax", "matmul_f16", "atomics", "print_and_assert"]


def jobs(tools: Tools, sample: bool) -> list[Job]:
    # One process for each architecture.
    made = []
    for arch in ALL:
        names = [name for name, arches in KERNELS.items() if arch in arches and (not sample or name in SAMPLE)]
        made.append(script_job(HERE / "triton_kernels.py", [Output("triton", name, arch) for name in names]))
    return made
