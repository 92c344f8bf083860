"""CUB: device-wide algorithms, and kernels around its block- and warp-level collectives.

Each line of the table is one translation unit. Only the one header needed is included, because
parsing headers takes most of the time.
"""

from common import Job, Output, Tools, nvcc_job

ARCHES = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]

# Without the profiler's annotations and the small floating-point types there is a fifth less to parse.
# Neither changes the kernels of the types used here; the units that do use such a type get them.
QUICKER = ["-std=c++17", "-DCCCL_DISABLE_NVTX", "-DNVTX_DISABLE"]
WITHOUT_SMALL_FLOATS = ["-DCCCL_DISABLE_FP16_SUPPORT", "-DCCCL_DISABLE_BF16_SUPPORT", "-DCCCL_DISABLE_NVFP8_SUPPORT"]

# What the expressions below may use. The functions are never run; they only have to make the
# compiler instantiate the kernels.
PROLOGUE = """
#include <cuda/std/functional>
#include <cuda/std/tuple>
struct Big { long long key; double x, y; };
__host__ __device__ inline bool operator<(const Big& a, const Big& b) { return a.key < b.key; }
__host__ __device__ inline bool operator==(const Big& a, const Big& b) { return a.key == b.key; }
struct Less { template <class T> __host__ __device__ bool operator()(const T& a, const T& b) const { return a < b; } };
struct Even { template <class T> __host__ __device__ bool operator()(const T& a) const { return a % 2 == 0; } };
struct Small { int limit; template <class T> __host__ __device__ bool operator()(const T& a) const { return a < limit; } };
struct Square { template <class T> __host__ __device__ T operator()(const T& a) const { return a * a; } };
struct Touch { template <class T> __device__ void operator()(T& a) const { a += 1; } };
struct TouchAt { int* p; __device__ void operator()(int i) const { p[i] = i; } };
struct Axpy { float a; __host__ __device__ float operator()(float x, float y) const { return a * x + y; } };
struct MinBig { __host__ __device__ Big operator()(const Big& a, const Big& b) const { return b < a ? b : a; } };
"""

PARAMETERS = """void* t, size_t& b, int n, int m,
  const int* i, int* o, const int* i2, int* o2, int* io, int* io2,
  const unsigned* u, unsigned* uo, const unsigned char* c, unsigned char* co, const short* s, short* so,
  const long long* l, long long* lo, const unsigned long long* ul, unsigned long long* ulo,
  const float* f, float* fo, const float* f2, const double* d, double* dx,
  const Big* g, Big* go, Big* gio, int* count, const int* begin, const int* end, const bool* flags"""

# name, header, expression
DEVICE = [
    ("reduce_sum_i32", "device_reduce", "DeviceReduce::Sum(t, b, i, o, n)"),
    ("reduce_sum_f32", "device_reduce", "DeviceReduce::Sum(t, b, f, fo, n)"),
    ("reduce_sum_f64_64bit_count", "device_reduce", "DeviceReduce::Sum(t, b, d, dx, (long long)n)"),
    ("reduce_min_i32", "device_reduce", "DeviceReduce::Min(t, b, i, o, n)"),
    ("reduce_max_u8", "device_reduce", "DeviceReduce::Max(t, b, c, co, n)"),
    ("reduce_argmin_f32", "device_reduce", "DeviceReduce::ArgMin(t, b, f, fo, lo, n)"),
    ("reduce_argmax_i64", "device_reduce", "DeviceReduce::ArgMax(t, b, l, lo, lo, n)"),
    ("reduce_custom_struct", "device_reduce", "DeviceReduce::Reduce(t, b, g, go, n, MinBig{}, Big{})"),
    ("reduce_by_key", "device_reduce", "DeviceReduce::ReduceByKey(t, b, i, o, f, fo, count, ::cuda::std::plus<>{}, n)"),
    ("transform_reduce", "device_reduce", "DeviceReduce::TransformReduce(t, b, f, fo, n, ::cuda::std::plus<>{}, Square{}, 0.0f)"),
    ("scan_exclusive_sum_i32", "device_scan", "DeviceScan::ExclusiveSum(t, b, i, o, n)"),
    ("scan_inclusive_sum_f32", "device_scan", "DeviceScan::InclusiveSum(t, b, f, fo, n)"),
    ("scan_inclusive_sum_u8", "device_scan", "DeviceScan::InclusiveSum(t, b, c, co, n)"),
    ("scan_exclusive_scan_max", "device_scan", "DeviceScan::ExclusiveScan(t, b, l, lo, ::cuda::maximum<>{}, 0ll, n)"),
    ("scan_inclusive_scan_min", "device_scan", "DeviceScan::InclusiveScan(t, b, d, dx, ::cuda::minimum<>{}, n)"),
    ("scan_inclusive_scan_init", "device_scan", "DeviceScan::InclusiveScanInit(t, b, i, o, ::cuda::std::plus<>{}, 7, n)"),
    ("scan_exclusive_sum_by_key", "device_scan", "DeviceScan::ExclusiveSumByKey(t, b, i, f, fo, n)"),
    ("scan_inclusive_scan_by_key", "device_scan", "DeviceScan::InclusiveScanByKey(t, b, i, i2, o, ::cuda::maximum<>{}, n)"),
    ("radix_sort_keys_u32", "device_radix_sort", "DeviceRadixSort::SortKeys(t, b, u, uo, n)"),
    ("radix_sort_keys_f32", "device_radix_sort", "DeviceRadixSort::SortKeys(t, b, f, fo, n)"),
    ("radix_sort_keys_u64", "device_radix_sort", "DeviceRadixSort::SortKeys(t, b, ul, ulo, n)"),
    ("radix_sort_keys_u8", "device_radix_sort", "DeviceRadixSort::SortKeys(t, b, c, co, n)"),
    ("radix_sort_keys_descending_i16", "device_radix_sort", "DeviceRadixSort::SortKeysDescending(t, b, s, so, n)"),
    ("radix_sort_pairs_i32_f32", "device_radix_sort", "DeviceRadixSort::SortPairs(t, b, i, o, f, fo, n)"),
    ("radix_sort_pairs_descending_f64", "device_radix_sort", "DeviceRadixSort::SortPairsDescending(t, b, d, dx, i, o, n)"),
    ("segmented_radix_sort_keys", "device_segmented_radix_sort", "DeviceSegmentedRadixSort::SortKeys(t, b, i, o, n, m, begin, end)"),
    ("segmented_radix_sort_pairs", "device_segmented_radix_sort", "DeviceSegmentedRadixSort::SortPairs(t, b, f, fo, i, o, n, m, begin, end)"),
    ("segmented_sort_keys", "device_segmented_sort", "DeviceSegmentedSort::SortKeys(t, b, i, o, n, m, begin, end)"),
    ("segmented_sort_pairs_descending", "device_segmented_sort", "DeviceSegmentedSort::SortPairsDescending(t, b, f, fo, i, o, n, m, begin, end)"),
    ("segmented_sort_stable_keys", "device_segmented_sort", "DeviceSegmentedSort::StableSortKeys(t, b, l, lo, n, m, begin, end)"),
    ("segmented_reduce_sum", "device_segmented_reduce", "DeviceSegmentedReduce::Sum(t, b, f, fo, m, begin, end)"),
    ("segmented_reduce_max", "device_segmented_reduce", "DeviceSegmentedReduce::Max(t, b, i, o, m, begin, end)"),
    ("segmented_reduce_fixed_size", "device_segmented_reduce", "DeviceSegmentedReduce::Sum(t, b, i, o, m, 64)"),
    ("segmented_scan_inclusive_sum", "device_segmented_scan", "DeviceSegmentedScan::InclusiveSegmentedSum(t, b, i, o, begin, end, (long long)m)"),
    ("segmented_scan_exclusive_sum", "device_segmented_scan", "DeviceSegmentedScan::ExclusiveSegmentedSum(t, b, f, fo, begin, end, (long long)m)"),
    ("select_if", "device_select", "DeviceSelect::If(t, b, i, o, count, n, Small{7})"),
    ("select_if_in_place", "device_select", "DeviceSelect::If(t, b, io, count, n, Even{})"),
    ("select_flagged", "device_select", "DeviceSelect::Flagged(t, b, f, flags, fo, count, n)"),
    ("select_flagged_if", "device_select", "DeviceSelect::FlaggedIf(t, b, f, i, fo, count, n, Even{})"),
    ("select_unique", "device_select", "DeviceSelect::Unique(t, b, i, o, count, n)"),
    ("select_unique_by_key", "device_select", "DeviceSelect::UniqueByKey(t, b, i, f, o, fo, count, n)"),
    ("partition_if", "device_partition", "DevicePartition::If(t, b, i, o, count, n, Even{})"),
    ("partition_flagged", "device_partition", "DevicePartition::Flagged(t, b, d, flags, dx, count, n)"),
    ("partition_three_way", "device_partition", "DevicePartition::If(t, b, i, o, o2, io, count, n, Small{3}, Small{9})"),
    ("run_length_encode", "device_run_length_encode", "DeviceRunLengthEncode::Encode(t, b, i, o, o2, count, n)"),
    ("run_length_non_trivial_runs", "device_run_length_encode", "DeviceRunLengthEncode::NonTrivialRuns(t, b, i, o, o2, count, n)"),
    ("histogram_even_f32", "device_histogram", "DeviceHistogram::HistogramEven(t, b, f, o, m, 0.0f, 1.0f, n)"),
    ("histogram_even_u8", "device_histogram", "DeviceHistogram::HistogramEven(t, b, c, o, 257, 0, 256, n)"),
    ("histogram_range_f64", "device_histogram", "DeviceHistogram::HistogramRange(t, b, d, o, m, dx, n)"),
    ("merge_sort_keys", "device_merge_sort", "DeviceMergeSort::SortKeys(t, b, io, n, Less{})"),
    ("merge_sort_keys_struct", "device_merge_sort", "DeviceMergeSort::StableSortKeys(t, b, gio, n, Less{})"),
    ("merge_sort_pairs", "device_merge_sort", "DeviceMergeSort::SortPairs(t, b, io, fo, n, Less{})"),
    ("merge_keys", "device_merge", "DeviceMerge::MergeKeys(t, b, i, n, i2, m, o, Less{})"),
    ("merge_pairs", "device_merge", "DeviceMerge::MergePairs(t, b, i, f, n, i2, f2, m, o, fo, Less{})"),
    ("adjacent_difference_left", "device_adjacent_difference", "DeviceAdjacentDifference::SubtractLeft(t, b, io, n)"),
    ("adjacent_difference_right_copy", "device_adjacent_difference", "DeviceAdjacentDifference::SubtractRightCopy(t, b, f, fo, n)"),
    ("for_each", "device_for", "DeviceFor::ForEachN(io, n, Touch{})"),
    ("for_each_copy", "device_for", "DeviceFor::ForEachCopyN(i, n, TouchAt{o})"),
    ("for_bulk", "device_for", "DeviceFor::Bulk(n, TouchAt{o})"),
    ("transform_unary", "device_transform", "DeviceTransform::Transform(f, fo, n, Square{})"),
    ("transform_binary", "device_transform", "DeviceTransform::Transform(::cuda::std::tuple{f, f2}, fo, n, Axpy{2.0f})"),
    ("transform_u8", "device_transform", "DeviceTransform::Transform(c, co, n, Square{})"),
    ("find_if", "device_find", "DeviceFind::FindIf(t, b, i, o, Even{}, n)"),
    ("find_lower_bound", "device_find", "DeviceFind::LowerBound(t, b, i, n, i2, m, o, Less{})"),
    ("find_upper_bound", "device_find", "DeviceFind::UpperBound(t, b, f, n, f2, m, o, Less{})"),
    ("copy_batched", "device_copy", "DeviceCopy::Batched(t, b, (const int**)nullptr, (int**)nullptr, begin, m)"),
    ("memcpy_batched", "device_memcpy", "DeviceMemcpy::Batched(t, b, (void**)nullptr, (void**)nullptr, begin, m)"),
    ("topk_max_keys", "device_topk", "DeviceTopK::MaxKeys(t, b, f, fo, n, m, topk_environment())"),
    ("topk_min_pairs", "device_topk", "DeviceTopK::MinPairs(t, b, i, o, f, fo, n, m, topk_environment())"),
]

# Expressions that need more than one line around them: name, headers, text.
MULTI = "unsigned char* in, int* h0, int* h1, int* h2, int n, void* t, size_t& b"
WHOLE = [
    ("histogram_multi_even", "device_histogram", f"""
cudaError_t run({MULTI}) {{
  int* h[3] = {{h0, h1, h2}}; int levels[3] = {{257, 257, 257}}; unsigned lower[3] = {{0, 0, 0}}, upper[3] = {{256, 256, 256}};
  return cub::DeviceHistogram::MultiHistogramEven<4, 3>(t, b, in, h, levels, lower, upper, n);
}}"""),
    ("histogram_multi_range", "device_histogram", f"""
cudaError_t run({MULTI}, const unsigned* r) {{
  int* h[3] = {{h0, h1, h2}}; int levels[3] = {{8, 8, 8}}; const unsigned* ranges[3] = {{r, r, r}};
  return cub::DeviceHistogram::MultiHistogramRange<4, 3>(t, b, in, h, levels, ranges, n);
}}"""),
    ("radix_sort_double_buffer", "device_radix_sort", """
cudaError_t run(void* t, size_t& b, unsigned* x, unsigned* y, int* v, int* w, int n) {
  cub::DoubleBuffer<unsigned> keys(x, y); cub::DoubleBuffer<int> values(v, w);
  return cub::DeviceRadixSort::SortPairs(t, b, keys, values, n, 4, 20);
}"""),
    ("radix_sort_half_keys", "device_radix_sort", """
#include <cuda_fp16.h>
cudaError_t run(void* t, size_t& b, const __half* x, __half* y, int n) {
  return cub::DeviceRadixSort::SortKeys(t, b, x, y, n);
}"""),
    ("radix_sort_int128_keys", "device_radix_sort", """
cudaError_t run(void* t, size_t& b, const __int128_t* x, __int128_t* y, int n) {
  return cub::DeviceRadixSort::SortKeys(t, b, x, y, n);
}"""),
    ("reduce_half2", "device_reduce", """
#include <cuda_fp16.h>
struct Plus { __device__ __half2 operator()(__half2 a, __half2 b) const { return __hadd2(a, b); } };
cudaError_t run(void* t, size_t& b, const __half2* x, __half2* y, int n) {
  return cub::DeviceReduce::Reduce(t, b, x, y, n, Plus{}, __half2{});
}"""),
    ("reduce_bf16", "device_reduce", """
#include <cuda_bf16.h>
struct Plus { __device__ __nv_bfloat16 operator()(__nv_bfloat16 a, __nv_bfloat16 b) const { return __hadd(a, b); } };
cudaError_t run(void* t, size_t& b, const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
  return cub::DeviceReduce::Reduce(t, b, x, y, n, Plus{}, __nv_bfloat16{});
}"""),
    ("reduce_deterministic", "device_reduce", """
#include <cuda/execution.determinism.h>
cudaError_t run(const float* x, float* y, int n) {
  auto env = cuda::execution::require(cuda::execution::determinism::gpu_to_gpu);
  return cub::DeviceReduce::Reduce(x, y, n, cuda::std::plus<float>{}, 0.0f, env);
}"""),
    ("scan_int128", "device_scan", """
cudaError_t run(void* t, size_t& b, const __int128_t* x, __int128_t* y, int n) {
  return cub::DeviceScan::InclusiveSum(t, b, x, y, n);
}"""),
]

TOPK_ENVIRONMENT = """
#include <cuda/execution.determinism.h>
#include <cuda/execution.output_ordering.h>
#include <cuda/execution.require.h>
inline auto topk_environment() {
  return cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                  cuda::execution::output_ordering::unsorted);
}
"""

# Block- and warp-level collectives in kernels of our own: name, headers, kernel.
COLLECTIVE = [
    *(
        (f"block_reduce_{name}", "block/block_reduce", f"""
__global__ void k(const float* in, float* out) {{
  using R = cub::BlockReduce<float, 128, cub::{algorithm}>;
  __shared__ typename R::TempStorage s;
  float r = R(s).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = r;
}}""")
        for name, algorithm in (
            ("warps", "BLOCK_REDUCE_WARP_REDUCTIONS"),
            ("raking", "BLOCK_REDUCE_RAKING"),
            ("raking_commutative", "BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY"),
        )
    ),
    *(
        (f"block_scan_{name}", "block/block_scan", f"""
__global__ void k(int* p) {{
  using S = cub::BlockScan<int, 256, cub::{algorithm}>;
  __shared__ typename S::TempStorage s;
  int v[4], total;
  for (int j = 0; j < 4; j++) v[j] = p[threadIdx.x * 4 + j];
  S(s).ExclusiveSum(v, v, total);
  for (int j = 0; j < 4; j++) p[threadIdx.x * 4 + j] = v[j] + total;
}}""")
        for name, algorithm in (("raking", "BLOCK_SCAN_RAKING"), ("warp_scans", "BLOCK_SCAN_WARP_SCANS"))
    ),
    ("block_radix_sort", "block/block_radix_sort", """
__global__ void k(unsigned* p, float* q) {
  using S = cub::BlockRadixSort<unsigned, 128, 4, float>;
  __shared__ typename S::TempStorage s;
  unsigned v[4]; float w[4];
  for (int j = 0; j < 4; j++) { v[j] = p[threadIdx.x * 4 + j]; w[j] = q[threadIdx.x * 4 + j]; }
  S(s).SortBlockedToStriped(v, w);
  for (int j = 0; j < 4; j++) { p[threadIdx.x + 128 * j] = v[j]; q[threadIdx.x + 128 * j] = w[j]; }
}"""),
    ("block_merge_sort", "block/block_merge_sort", """
__global__ void k(double* p) {
  using S = cub::BlockMergeSort<double, 128, 4>;
  __shared__ typename S::TempStorage s;
  double v[4];
  for (int j = 0; j < 4; j++) v[j] = p[threadIdx.x * 4 + j];
  S(s).Sort(v, Less{});
  for (int j = 0; j < 4; j++) p[threadIdx.x * 4 + j] = v[j];
}"""),
    ("block_exchange_load_store", "block/block_exchange block/block_load block/block_store", """
__global__ void k(const float* in, float* out, int n) {
  using L = cub::BlockLoad<float, 128, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using E = cub::BlockExchange<float, 128, 8>;
  using W = cub::BlockStore<float, 128, 8, cub::BLOCK_STORE_VECTORIZE>;
  __shared__ union { typename L::TempStorage l; typename E::TempStorage e; typename W::TempStorage w; } s;
  float v[8];
  L(s.l).Load(in, v, n, 0.0f);
  __syncthreads();
  E(s.e).BlockedToStriped(v);
  __syncthreads();
  W(s.w).Store(out, v);
}"""),
    ("block_histogram", "block/block_histogram", """
__global__ void k(const unsigned char* in, unsigned* out) {
  using H = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_SORT>;
  __shared__ typename H::TempStorage s;
  __shared__ unsigned bins[256];
  unsigned char v[4];
  for (int j = 0; j < 4; j++) v[j] = in[threadIdx.x * 4 + j];
  H(s).Histogram(v, bins);
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
}"""),
    ("block_discontinuity", "block/block_discontinuity block/block_adjacent_difference", """
__global__ void k(const int* in, int* out) {
  using D = cub::BlockDiscontinuity<int, 128>;
  using A = cub::BlockAdjacentDifference<int, 128>;
  __shared__ typename D::TempStorage s;
  __shared__ typename A::TempStorage a;
  int v[4], h[4], w[4];
  for (int j = 0; j < 4; j++) v[j] = in[threadIdx.x * 4 + j];
  D(s).FlagHeads(h, v, cuda::std::not_equal_to<>{});
  A(a).SubtractLeft(v, w, cuda::std::minus<>{});
  for (int j = 0; j < 4; j++) out[threadIdx.x * 4 + j] = h[j] + w[j];
}"""),
    ("block_shuffle_run_length_decode", "block/block_shuffle block/block_run_length_decode", """
__global__ void k(const int* in, const unsigned* lengths, int* out) {
  using D = cub::BlockRunLengthDecode<int, 128, 1, 4>;
  using S = cub::BlockShuffle<int, 128>;
  __shared__ typename D::TempStorage d;
  __shared__ typename S::TempStorage s;
  int item[1] = {in[threadIdx.x]}; unsigned length[1] = {lengths[threadIdx.x]}, total;
  D decode(d, item, length, total);
  int v[4], w;
  decode.RunLengthDecode(v, 0u);
  S(s).Offset(v[0], w, 1);
  out[threadIdx.x] = v[1] + v[2] + v[3] + w;
}"""),
    ("warp_reduce", "warp/warp_reduce", """
__global__ void k(const int* in, double* dd, int* out) {
  using R = cub::WarpReduce<int>; using Q = cub::WarpReduce<double, 8>;
  __shared__ typename R::TempStorage s[4]; __shared__ typename Q::TempStorage q[16];
  out[threadIdx.x] = R(s[threadIdx.x / 32]).HeadSegmentedSum(in[threadIdx.x], threadIdx.x % 5 == 0);
  dd[threadIdx.x] = Q(q[threadIdx.x / 8]).Reduce(dd[threadIdx.x], cuda::maximum<>{});
}"""),
    ("warp_scan", "warp/warp_scan", """
__global__ void k(int* a, float* f, Big* g) {
  using S = cub::WarpScan<int>; using T = cub::WarpScan<float, 16>;
  __shared__ typename S::TempStorage s[4]; __shared__ typename T::TempStorage t[8];
  S(s[threadIdx.x / 32]).ExclusiveSum(a[threadIdx.x], a[threadIdx.x]);
  T(t[threadIdx.x / 16]).InclusiveScan(f[threadIdx.x], f[threadIdx.x], cuda::maximum<>{});
}"""),
    ("warp_merge_sort_exchange", "warp/warp_merge_sort warp/warp_exchange warp/warp_load warp/warp_store", """
__global__ void k(const int* in, int* out) {
  using M = cub::WarpMergeSort<int, 4>; using L = cub::WarpLoad<int, 4, cub::WARP_LOAD_TRANSPOSE>;
  using X = cub::WarpExchange<int, 4>; using W = cub::WarpStore<int, 4, cub::WARP_STORE_STRIPED>;
  __shared__ union { typename M::TempStorage m; typename L::TempStorage l; typename X::TempStorage x; typename W::TempStorage w; } s[4];
  auto& mine = s[threadIdx.x / 32];
  int v[4];
  L(mine.l).Load(in, v); __syncwarp();
  M(mine.m).Sort(v, Less{}); __syncwarp();
  X(mine.x).BlockedToStriped(v, v); __syncwarp();
  W(mine.w).Store(out, v);
}"""),
]

SAMPLE = {
    ("reduce_sum_i32", "sm_80"), ("scan_inclusive_sum_f32", "sm_90"), ("radix_sort_pairs_i32_f32", "sm_100"),
    ("select_if", "sm_75"), ("transform_unary", "sm_90"), ("block_radix_sort", "sm_120"), ("warp_scan", "sm_75"),
}


# Variations of another line by the type of the elements; two architectures are enough for them.
TWO_ARCHES = ["sm_80", "sm_100"]
TYPE_VARIANTS = {
    "reduce_sum_f32", "reduce_sum_f64_64bit_count", "reduce_max_u8", "reduce_argmax_i64", "reduce_half2", "reduce_bf16",
    "scan_inclusive_sum_u8", "scan_int128", "radix_sort_keys_f32", "radix_sort_keys_u64", "radix_sort_keys_u8",
    "radix_sort_half_keys", "radix_sort_int128_keys", "segmented_sort_stable_keys", "segmented_reduce_max",
    "segmented_reduce_fixed_size", "select_if_in_place", "histogram_even_u8", "merge_sort_keys_struct", "transform_u8",
    "block_reduce_raking", "block_reduce_raking_commutative", "block_scan_raking",
}


def sources() -> dict[str, str]:
    """The text of each translation unit."""
    units = {}
    for name, header, expression in DEVICE:
        extra = TOPK_ENVIRONMENT if "topk_environment" in expression else ""
        body = f"cudaError_t run({PARAMETERS})\n{{\n  return cub::{expression};\n}}\n"
        units[name] = f"#include <cub/device/{header}.cuh>\n{PROLOGUE}{extra}\n{body}"
    for name, header, text in WHOLE:
        units[name] = f"#include <cub/device/{header}.cuh>\n{text}\n"
    for name, headers, text in COLLECTIVE:
        includes = "".join(f"#include <cub/{header}.cuh>\n" for header in headers.split())
        units[name] = f"{includes}{PROLOGUE}{text}\n"
    return units


def flags(text: str) -> list[str]:
    """The options for a translation unit of CUB or Thrust."""
    small_floats = "cuda_fp16.h" in text or "cuda_bf16.h" in text
    return QUICKER + ([] if small_floats else WITHOUT_SMALL_FLOATS)


def jobs(tools: Tools, sample: bool) -> list[Job]:
    # One architecture after the other, so that an interrupted run has every algorithm.
    return [
        nvcc_job(Output("cub", name, arch), text, flags(text))
        for arch in ARCHES
        for name, text in sources().items()
        if arch in TWO_ARCHES or name not in TYPE_VARIANTS
        if not sample or (name, arch) in SAMPLE
    ]
