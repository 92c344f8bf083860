//! Which of CUDA's functions give what a GPU need not give. All others that are there are exact, which programs of tests assert.

/// What a function is, and why: `exact`, `approximate`, or `hint`, which changes no result here and on a GPU.
pub(super) fn fidelity(name: &str) -> (&'static str, &'static str) {
    let known = KNOWN.iter().find(|(part, ..)| base(name).contains(part));
    known.map_or(("exact", ""), |&(_, fidelity, why)| (fidelity, why))
}

/// By parts of names, those that are exact after all before the others.
const KNOWN: [(&str, &str, &str); 16] = [
    ("FuncSetAttribute", "exact", ""),
    ("StreamGetAttribute", "exact", ""),
    ("PointerGetAttribute", "exact", ""),
    ("EventElapsedTime", "approximate", "it is the time of this machine, not that of a GPU"),
    ("Occupancy", "approximate", "every thread is taken to need 32 registers"),
    ("GetDeviceProperties", "approximate", DEVICE),
    ("DeviceGetAttribute", "approximate", DEVICE),
    ("DeviceTotalMem", "approximate", DEVICE),
    ("MemGetInfo", "approximate", DEVICE),
    ("FuncGetAttribute", "approximate", "registers and local memory are not those of NVIDIA's compiler"),
    ("MemAdvise", "hint", ""),
    ("MemPrefetch", "hint", ""),
    ("CacheConfig", "hint", ""),
    ("SharedMemConfig", "hint", ""),
    ("Priority", "hint", ""),
    ("Profiler", "hint", ""),
];

const DEVICE: &str = "it is that of the GPU that --gpu names, or else of this machine";

/// A name without the prefix of its library.
fn base(name: &str) -> &str {
    name.trim_start_matches("cuda").trim_start_matches("cu")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_libraries_and_all_versions() {
        assert_eq!(fidelity("cudaMalloc").0, "exact");
        assert_eq!(fidelity("cuEventElapsedTime_v2").0, "approximate");
        assert_eq!(fidelity("cudaMemPrefetchAsync_v2_ptsz").0, "hint");
        assert_eq!(fidelity("cudaFuncSetAttribute").0, "exact");
        assert_eq!(fidelity("cudaFuncGetAttributes").0, "approximate");
    }
}
