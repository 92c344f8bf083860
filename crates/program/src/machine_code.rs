//! Libraries that are only given away as machine code.

/// Libraries that are known to carry machine code only, by the beginning of their names.
const MACHINE_CODE_ONLY: [&str; 16] = [
    "libcublas",
    "libcudnn",
    "libcufft",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libcutensor",
    "libnccl",
    "libnpp",
    "libnvjpeg",
    "libnvinfer",
    "libcusparseLt",
    "libtorch_cuda",
    "libc10_cuda",
    "libonnxruntime_providers_cuda",
    "libnvgraph",
];

/// Whether a library is known to carry machine code only, by the name of its file. Who uses it cannot compile it anew.
pub fn has_machine_code_only(file_name: &str) -> bool {
    MACHINE_CODE_ONLY.iter().any(|name| file_name.starts_with(name))
}
