"""CUTLASS matrix multiplications, for the tensor cores of each generation.

Only the kernels are instantiated, not the host code that launches them, and each in its own
translation unit.
"""

from common import Job, Output, Tools, nvcc_job

# Kernels of the older interface: mma.sync with cp.async (sm_80), mma.sync alone (sm_75), or plain
# arithmetic ("Simt").
#   name -> arch, element A/B, element C, accumulator, class, block tile, warp tile, instruction, stages
SYNC = {
    "sync_f16_f32": ("sm_80", "half_t", "half_t", "float", "TensorOp", "128,128,32", "64,64,32", "16,8,16", 3),
    "sync_f16_f16": ("sm_80", "half_t", "half_t", "half_t", "TensorOp", "128,256,32", "64,64,32", "16,8,16", 4),
    "sync_bf16": ("sm_80", "bfloat16_t", "bfloat16_t", "float", "TensorOp", "64,64,64", "32,32,64", "16,8,16", 5),
    "sync_tf32": ("sm_80", "tfloat32_t", "float", "float", "TensorOp", "128,64,16", "64,32,16", "16,8,8", 3),
    "sync_s8": ("sm_80", "int8_t", "int32_t", "int32_t", "TensorOp", "128,128,64", "64,64,64", "16,8,32", 3),
    "sync_f64": ("sm_80", "double", "double", "double", "TensorOp", "64,64,16", "32,32,16", "8,8,4", 4),
    "sync_turing_f16": ("sm_75", "half_t", "half_t", "float", "TensorOp", "128,128,32", "64,64,32", "16,8,8", 2),
    "sync_turing_s8": ("sm_75", "int8_t", "int32_t", "int32_t", "TensorOp", "128,128,64", "64,64,64", "8,8,16", 2),
    "simt_f32": ("sm_80", "float", "float", "float", "Simt", "128,128,8", "32,64,8", "1,1,1", 4),
    "simt_f64": ("sm_75", "double", "double", "double", "Simt", "64,64,8", "32,32,8", "1,1,1", 2),
}

SYNC_TEXT = """
#include <cutlass/gemm/device/gemm.h>
using namespace cutlass;
using Gemm = gemm::device::Gemm<
    {ab}, layout::RowMajor, {ab}, layout::ColumnMajor, {c}, layout::RowMajor, {acc}, arch::OpClass{kind}, arch::Sm{sm},
    gemm::GemmShape<{block}>, gemm::GemmShape<{warp}>, gemm::GemmShape<{instruction}>,
    epilogue::thread::LinearCombination<{c}, {vector}, {acc}, {acc}>,
    gemm::threadblock::GemmIdentityThreadblockSwizzle<>, {stages}>;
template __global__ void cutlass::Kernel<Gemm::GemmKernel>(Gemm::GemmKernel::Params);
"""

# Kernels from the collective builders: wgmma and TMA (sm_90a), tcgen05 and tensor memory (sm_100a),
# block-scaled mma.sync (sm_120a).
#   name -> arch, class, A, its alignment, B, its alignment, C, its alignment, tile, cluster, schedule, epilogue
AUTO = ("gemm::collective::KernelScheduleAuto", "epilogue::collective::EpilogueScheduleAuto")
PINGPONG = ("gemm::KernelTmaWarpSpecializedPingpong", "epilogue::TmaWarpSpecialized")
COOPERATIVE = ("gemm::KernelTmaWarpSpecializedCooperative", "epilogue::TmaWarpSpecializedCooperative")
TWO_SM = ("gemm::KernelTmaWarpSpecialized2SmSm100", "epilogue::TmaWarpSpecialized2Sm")
ULTRA = ("gemm::KernelTmaWarpSpecialized1SmBlockScaledMxNvf4UltraVs16Sm103", "epilogue::NoSmemWarpSpecialized1Sm")
MX8 = "mx_float8_t<float_e4m3_t>"
MX6 = "mx_float6_t<float_e3m2_t>"
MX4 = "mx_float4_t<float_e2m1_t>"
NV4 = "nv_float4_t<float_e2m1_t>"
NV4_PAIR = "cute::tuple<float_e2m1_t, float_ue4m3_t>"  # the same, as the builder for sm_103 wants it
COLLECTIVE = {
    "wgmma_f16_auto": ("sm_90a", "TensorOp", "half_t", 8, "half_t", 8, "half_t", 8, "128,128,64", "2,1,1", AUTO),
    "wgmma_f16_pingpong": ("sm_90a", "TensorOp", "half_t", 8, "half_t", 8, "float", 4, "64,128,64", "1,2,1", PINGPONG),
    "wgmma_f16_cooperative": ("sm_90a", "TensorOp", "half_t", 8, "half_t", 8, "half_t", 8, "256,128,64", "2,2,1", COOPERATIVE),
    "wgmma_bf16": ("sm_90a", "TensorOp", "bfloat16_t", 8, "bfloat16_t", 8, "bfloat16_t", 8, "128,256,64", "1,1,1", COOPERATIVE),
    "wgmma_tf32": ("sm_90a", "TensorOp", "tfloat32_t", 4, "tfloat32_t", 4, "float", 4, "128,128,32", "1,1,1", AUTO),
    "wgmma_s8": ("sm_90a", "TensorOp", "int8_t", 16, "int8_t", 16, "int32_t", 4, "128,128,128", "1,1,1", AUTO),
    "wgmma_fp8": ("sm_90a", "TensorOp", "float_e4m3_t", 16, "float_e5m2_t", 16, "half_t", 8, "64,128,128", "2,1,1", PINGPONG),
    "wgmma_mixed_s4_f16": ("sm_90a", "TensorOp", "half_t", 8, "int4b_t", 32, "half_t", 8, "128,128,64", "1,1,1", COOPERATIVE),
    "wgmma_cp_async": ("sm_90a", "TensorOp", "half_t", 2, "half_t", 2, "half_t", 2, "128,128,64", "1,1,1", ("gemm::KernelCpAsyncWarpSpecializedCooperative", "epilogue::NoSmemWarpSpecialized")),
    "tcgen05_f16_auto": ("sm_100a", "TensorOp", "half_t", 8, "half_t", 8, "half_t", 8, "128,128,64", "1,1,1", AUTO),
    "tcgen05_f16_two_sm": ("sm_100a", "TensorOp", "half_t", 8, "half_t", 8, "float", 4, "256,128,64", "2,1,1", TWO_SM),
    "tcgen05_tf32": ("sm_100a", "TensorOp", "tfloat32_t", 4, "tfloat32_t", 4, "float", 4, "128,64,32", "1,2,1", AUTO),
    "tcgen05_s8": ("sm_100a", "TensorOp", "int8_t", 16, "int8_t", 16, "int32_t", 4, "128,128,128", "1,1,1", AUTO),
    "tcgen05_fp8": ("sm_100a", "TensorOp", "float_e4m3_t", 16, "float_e4m3_t", 16, "bfloat16_t", 8, "256,256,128", "2,2,1", AUTO),
    "tcgen05_mxfp8": ("sm_100a", "BlockScaledTensorOp", MX8, 16, MX8, 16, "bfloat16_t", 8, "128,128,128", "1,1,1", AUTO),
    "tcgen05_mxfp4_mxfp6": ("sm_100a", "BlockScaledTensorOp", MX4, 128, MX6, 128, "float", 4, "128,128,128", "1,1,1", AUTO),
    "tcgen05_nvfp4": ("sm_100a", "BlockScaledTensorOp", NV4, 32, NV4, 32, "half_t", 8, "256,128,256", "2,1,1", AUTO),
    "tcgen05_nvfp4_sm103": ("sm_103a", "BlockScaledTensorOp", NV4_PAIR, 32, NV4_PAIR, 32, "half_t", 8, "128,128,768", "1,1,1", ULTRA),
    "scaled_mma_nvfp4": ("sm_120a", "BlockScaledTensorOp", NV4, 32, NV4, 32, "bfloat16_t", 8, "128,128,128", "1,1,1", AUTO),
    "scaled_mma_mxfp8": ("sm_120a", "BlockScaledTensorOp", MX8, 16, MX8, 16, "float", 4, "128,128,128", "1,1,1", AUTO),
    "mma_fp8_sm120": ("sm_120a", "TensorOp", "float_e4m3_t", 16, "float_e4m3_t", 16, "float", 4, "128,128,64", "1,1,1", AUTO),
}

COLLECTIVE_TEXT = """
#include <cutlass/cutlass.h>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
namespace corpus {{
using namespace cutlass;
template <int... N> using Sizes = cute::Shape<cute::Int<N>...>;
using BlockTile = Sizes<{tile}>;
using ClusterTile = Sizes<{cluster}>;
using Epilogue = typename epilogue::collective::CollectiveBuilder<
    arch::Sm{sm}, arch::OpClass{epilogue_class}, BlockTile, ClusterTile, epilogue::collective::EpilogueTileAuto, {acc}, float,
    {c}, layout::RowMajor, {align_c}, {c}, layout::RowMajor, {align_c}, {epilogue}>::CollectiveOp;
using Mainloop = typename gemm::collective::CollectiveBuilder<
    arch::Sm{sm}, arch::OpClass{kind}, {a}, layout::RowMajor, {align_a}, {b}, layout::ColumnMajor, {align_b}, {acc},
    BlockTile, ClusterTile,
    gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
    {schedule}>::CollectiveOp;
using Kernel = gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;
}}
template __global__ void cutlass::device_kernel<corpus::Kernel>(CUTLASS_GRID_CONSTANT corpus::Kernel::Params const);
"""

SAMPLE = ["sync_f16_f32", "wgmma_f16_pingpong", "tcgen05_f16_auto"]


def sources() -> dict[tuple[str, str], str]:
    """(name, arch) -> the text of the translation unit."""
    units = {}
    for name, (arch, ab, c, acc, kind, block, warp, instruction, stages) in SYNC.items():
        # 128 bits at a time, except that the plain kernels store single elements.
        bits = {"half_t": 16, "bfloat16_t": 16, "float": 32, "int32_t": 32, "double": 64}[c]
        units[name, arch] = SYNC_TEXT.format(
            ab=ab, c=c, acc=acc, kind=kind, sm=arch.removeprefix("sm_"), block=block, warp=warp,
            instruction=instruction, stages=stages, vector=1 if kind == "Simt" else 128 // bits,
        )
    for name, (arch, kind, a, align_a, b, align_b, c, align_c, tile, cluster, (schedule, epilogue)) in COLLECTIVE.items():
        units[name, arch] = COLLECTIVE_TEXT.format(
            kind=kind, epilogue_class="TensorOp" if kind == "BlockScaledTensorOp" else kind,
            a=a, b=b, c=c, align_a=align_a, align_b=align_b, align_c=align_c, tile=tile, cluster=cluster,
            sm=arch.removeprefix("sm_").rstrip("a"), acc="int32_t" if a == "int8_t" else "float",
            schedule=schedule, epilogue=epilogue,
        )
    return units


def jobs(tools: Tools, sample: bool) -> list[Job]:
    flags = ["-std=c++17", "--expt-relaxed-constexpr", f"-I{tools.cutlass / 'include'}"]
    return [
        nvcc_job(Output("cutlass", name, arch), text, flags)
        for (name, arch), text in sources().items()
        if not sample or name in SAMPLE
    ]
