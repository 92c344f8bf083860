//! The GPUs that tables can be for, as data.
//!
//! Limits of a multiprocessor are those of NVIDIA's `cuda_occupancy.h` and `cuda/__device/arch_traits.h` (CUDA 13); those of
//! sm_21 are in the header of CUDA 7, and in the table "Technical Specifications per Compute Capability" of the CUDA C
//! Programming Guide 8.0.

/// A GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Architecture {
    /// As compilers name it.
    pub(super) name: &'static str,
    /// Threads that a multiprocessor can have at once.
    pub(super) threads: u32,
    /// Blocks that it can have.
    pub(super) blocks: u32,
    /// Registers that it has, each of 32 bits.
    pub(super) registers: u32,
    /// Registers are given to warps in multiples of this.
    pub(super) register_unit: u32,
    /// Parts of a multiprocessor, each of which has its share of the registers.
    pub(super) partitions: u32,
    /// The largest shared memory of a multiprocessor, in bytes.
    pub(super) shared: u32,
    /// Shared memory is given to blocks in multiples of this.
    pub(super) shared_unit: u32,
    /// Bytes of shared memory that each block takes for the system.
    pub(super) shared_reserved: u32,
}

/// What most have in common.
const KEPLER_AND_LATER: Architecture = Architecture {
    name: "",
    threads: 2048,
    blocks: 32,
    registers: 64 << 10,
    register_unit: 256,
    partitions: 4,
    shared: 0,
    shared_unit: 128,
    shared_reserved: 1 << 10,
};

/// All that are known.
pub(super) const ARCHITECTURES: [Architecture; 8] = [
    Architecture {
        name: "sm_21",
        threads: 1536,
        blocks: 8,
        registers: 32 << 10,
        register_unit: 64,
        partitions: 2,
        shared: 48 << 10,
        shared_unit: 128,
        shared_reserved: 0,
    },
    Architecture { name: "sm_61", shared: 96 << 10, shared_unit: 256, shared_reserved: 0, ..KEPLER_AND_LATER },
    Architecture {
        name: "sm_75",
        threads: 1024,
        blocks: 16,
        shared: 64 << 10,
        shared_unit: 256,
        shared_reserved: 0,
        ..KEPLER_AND_LATER
    },
    Architecture { name: "sm_80", shared: 164 << 10, ..KEPLER_AND_LATER },
    Architecture { name: "sm_86", threads: 1536, blocks: 16, shared: 100 << 10, ..KEPLER_AND_LATER },
    Architecture { name: "sm_90", shared: 228 << 10, ..KEPLER_AND_LATER },
    Architecture { name: "sm_100", shared: 228 << 10, ..KEPLER_AND_LATER },
    Architecture { name: "sm_120", threads: 1536, blocks: 24, shared: 100 << 10, ..KEPLER_AND_LATER },
];

/// Those that a list names, `sm_80,sm_90`, each once.
pub(super) fn named(list: &str) -> Result<Vec<Architecture>, String> {
    let mut found: Vec<Architecture> = Vec::new();
    for name in list.split(',').map(str::trim) {
        let known = ARCHITECTURES.iter().find(|known| known.name == name);
        let known = known.ok_or_else(|| {
            let names: Vec<&str> = ARCHITECTURES.iter().map(|known| known.name).collect();
            format!("`{name}` is not an architecture that is known; there are {}", names.join(", "))
        })?;
        if !found.contains(known) {
            found.push(*known);
        }
    }
    Ok(found)
}

/// What is wrong with a list.
pub(super) fn check(list: &str) -> Result<(), String> {
    named(list).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_architectures_that_are_known() {
        let names = |list: &str| named(list).map(|found| found.iter().map(|known| known.name).collect::<Vec<_>>());
        assert_eq!(names("sm_90, sm_21,sm_90"), Ok(vec!["sm_90", "sm_21"]));
        assert!(names("sm_90,sm_91").unwrap_err().contains("`sm_91`"));
        assert!(names("").is_err());
    }
}
