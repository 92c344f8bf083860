"""Thrust algorithms on device pointers; each line of the table is one translation unit."""

from common import Job, Output, Tools, nvcc_job
from cub_part import flags

ARCHES = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]

PROLOGUE = """
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/functional.h>
#include <cuda/std/functional>
struct Square { template <class T> __host__ __device__ T operator()(T a) const { return a * a; } };
struct Even { __host__ __device__ bool operator()(int a) const { return a % 2 == 0; } };
struct Descending { template <class T> __host__ __device__ bool operator()(T a, T b) const { return b < a; } };
struct Axpy { float a; __host__ __device__ float operator()(float x, float y) const { return a * x + y; } };
struct Touch { __host__ __device__ void operator()(int& v) const { v += 3; } };
struct Count { __host__ __device__ int operator()() const { return 7; } };
struct Pair { int key; double value; __host__ __device__ bool operator<(const Pair& o) const { return key < o.key; } };
"""

# The policy that does not wait for the device keeps the host code short; it makes no difference to
# the kernels.
PARAMETERS = """int n, int m, int* i, int* i2, int* o, int* o2, float* f, float* f2, float* fo, double* d, double* dx,
  unsigned long long* u, bool* b, Pair* p, const int* s, char* c"""

# name, headers, expression (P is the execution policy)
TABLE = [
    ("sort", "sort", "thrust::sort(P, i, i + n)"),
    ("sort_descending", "sort", "thrust::sort(P, f, f + n, Descending{})"),
    ("stable_sort_struct", "sort", "thrust::stable_sort(P, p, p + n)"),
    ("sort_by_key", "sort", "thrust::sort_by_key(P, i, i + n, f)"),
    ("stable_sort_by_key", "sort", "thrust::stable_sort_by_key(P, u, u + n, d, Descending{})"),
    ("is_sorted", "sort", "thrust::is_sorted(P, f, f + n)"),
    ("reduce", "reduce", "thrust::reduce(P, f, f + n)"),
    ("reduce_by_key", "reduce", "thrust::reduce_by_key(P, i, i + n, f, o, fo)"),
    ("transform", "transform", "thrust::transform(P, f, f + n, fo, Square{})"),
    ("transform_binary", "transform", "thrust::transform(P, f, f + n, f2, fo, Axpy{2})"),
    ("transform_if", "transform", "thrust::transform_if(P, i, i + n, o, Square{}, Even{})"),
    ("transform_reduce", "transform_reduce", "thrust::transform_reduce(P, f, f + n, Square{}, 0.0f, cuda::std::plus<>{})"),
    ("inner_product", "inner_product", "thrust::inner_product(P, f, f + n, f2, 0.0f)"),
    ("inclusive_scan", "scan", "thrust::inclusive_scan(P, i, i + n, o)"),
    ("exclusive_scan", "scan", "thrust::exclusive_scan(P, d, d + n, dx, 1.0)"),
    ("inclusive_scan_by_key", "scan", "thrust::inclusive_scan_by_key(P, i, i + n, f, fo)"),
    ("transform_inclusive_scan", "transform_scan", "thrust::transform_inclusive_scan(P, f, f + n, fo, Square{}, cuda::std::plus<>{})"),
    ("adjacent_difference", "adjacent_difference", "thrust::adjacent_difference(P, f, f + n, fo)"),
    ("copy_if", "copy", "thrust::copy_if(P, i, i + n, o, Even{})"),
    ("copy_if_stencil", "copy", "thrust::copy_if(P, f, f + n, i, fo, Even{})"),
    ("remove_if", "remove", "thrust::remove_if(P, i, i + n, Even{})"),
    ("replace_if", "replace", "thrust::replace_if(P, i, i + n, Even{}, 5)"),
    ("unique", "unique", "thrust::unique(P, i, i + n)"),
    ("unique_by_key", "unique", "thrust::unique_by_key(P, i, i + n, f)"),
    ("partition", "partition", "thrust::partition(P, i, i + n, Even{})"),
    ("stable_partition_copy", "partition", "thrust::stable_partition_copy(P, i, i + n, o, o2, Even{})"),
    ("gather", "gather", "thrust::gather(P, s, s + n, f, fo)"),
    ("gather_if", "gather", "thrust::gather_if(P, s, s + n, i, f, fo, Even{})"),
    ("scatter", "scatter", "thrust::scatter(P, f, f + n, s, fo)"),
    ("scatter_if", "scatter", "thrust::scatter_if(P, f, f + n, s, i, fo, Even{})"),
    ("set_union", "set_operations", "thrust::set_union(P, i, i + n, i2, i2 + m, o)"),
    ("set_intersection", "set_operations", "thrust::set_intersection(P, i, i + n, i2, i2 + m, o)"),
    ("set_difference_by_key", "set_operations", "thrust::set_difference_by_key(P, i, i + n, i2, i2 + m, f, f2, o, fo)"),
    ("set_symmetric_difference", "set_operations", "thrust::set_symmetric_difference(P, f, f + n, f2, f2 + m, fo)"),
    ("merge", "merge", "thrust::merge(P, i, i + n, i2, i2 + m, o)"),
    ("merge_by_key", "merge", "thrust::merge_by_key(P, i, i + n, i2, i2 + m, f, f2, o, fo)"),
    ("lower_bound", "binary_search", "thrust::lower_bound(P, i, i + n, i2, i2 + m, o)"),
    ("upper_bound", "binary_search", "thrust::upper_bound(P, f, f + n, f2, f2 + m, o)"),
    ("binary_search", "binary_search", "thrust::binary_search(P, i, i + n, i2, i2 + m, b)"),
    ("min_max_element", "extrema", "thrust::minmax_element(P, f, f + n)"),
    ("max_element", "extrema", "thrust::max_element(P, d, d + n)"),
    ("count_if", "count", "thrust::count_if(P, i, i + n, Even{})"),
    ("find_if", "find", "thrust::find_if(P, i, i + n, Even{})"),
    ("all_of", "logical", "thrust::all_of(P, i, i + n, Even{})"),
    ("equal", "equal", "thrust::equal(P, f, f + n, f2)"),
    ("mismatch", "mismatch", "thrust::mismatch(P, i, i + n, i2)"),
    ("for_each", "for_each", "thrust::for_each(P, i, i + n, Touch{})"),
    ("fill", "fill", "thrust::fill(P, p, p + n, Pair{1, 2.0})"),
    ("generate", "generate", "thrust::generate(P, i, i + n, Count{})"),
    ("sequence", "sequence", "thrust::sequence(P, u, u + n, 5ull, 3ull)"),
    ("tabulate", "tabulate", "thrust::tabulate(P, i, i + n, Square{})"),
    ("reverse", "reverse", "thrust::reverse(P, c, c + n)"),
    ("swap_ranges", "swap", "thrust::swap_ranges(P, f, f + n, f2)"),
    ("shuffle", "shuffle random", "thrust::shuffle(P, i, i + n, thrust::default_random_engine(n))"),
    ("zip_transform", "transform iterator/zip_iterator zip_function",
     "thrust::transform(P, thrust::make_zip_iterator(f, f2), thrust::make_zip_iterator(f + n, f2 + n), fo, thrust::make_zip_function(Axpy{3}))"),
    ("permutation_reduce", "reduce iterator/permutation_iterator",
     "thrust::reduce(P, thrust::make_permutation_iterator(f, s), thrust::make_permutation_iterator(f, s + n))"),
    ("counting_transform_scan", "scan iterator/counting_iterator iterator/transform_iterator",
     "thrust::exclusive_scan(P, thrust::make_transform_iterator(thrust::make_counting_iterator(0), Square{}), thrust::make_transform_iterator(thrust::make_counting_iterator(n), Square{}), o)"),
]

# The rest of the algorithms share the kernels of these, so that two architectures are enough for them.
EVERYWHERE = {
    "sort", "stable_sort_struct", "sort_by_key", "reduce", "reduce_by_key", "transform", "inner_product", "inclusive_scan",
    "exclusive_scan", "copy_if", "unique", "partition", "gather", "scatter", "set_union", "set_intersection", "merge",
    "lower_bound", "binary_search", "min_max_element", "for_each",
}
TWO_ARCHES = ["sm_80", "sm_100"]

SAMPLE = {("transform", "sm_80"), ("inclusive_scan", "sm_90"), ("lower_bound", "sm_120")}


def source(headers: str, expression: str) -> str:
    includes = "".join(f"#include <thrust/{header}.h>\n" for header in headers.split())
    return (
        f"{includes}{PROLOGUE}\n#define P thrust::cuda::par_nosync\n"
        f"void run({PARAMETERS})\n{{\n  {expression};\n}}\n"
    )


def jobs(tools: Tools, sample: bool) -> list[Job]:
    # One architecture after the other, so that an interrupted run has every algorithm.
    return [
        nvcc_job(Output("thrust", name, arch), text, flags(text))
        for arch in ARCHES
        for name, text in ((name, source(headers, expression)) for name, headers, expression in TABLE)
        if arch in TWO_ARCHES or name in EVERYWHERE
        if not sample or (name, arch) in SAMPLE
    ]
