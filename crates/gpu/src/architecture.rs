//! What multiprocessors have.
//!
//! Limits of a multiprocessor are those of NVIDIA's `cuda_occupancy.h` and `cuda/__device/arch_traits.h` (CUDA 13); those of
//! sm_21 are in the header of CUDA 7, and in the table "Technical Specifications per Compute Capability" of the CUDA C
//! Programming Guide 8.0.

/// GPUs whose multiprocessors are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Architecture {
    /// As compilers name it.
    pub name: &'static str,
    /// Threads that a multiprocessor can have at once.
    pub threads: u32,
    /// Blocks that it can have.
    pub blocks: u32,
    /// Registers that it has, each of 32 bits.
    pub registers: u32,
    /// Registers are given to warps in multiples of this.
    pub register_unit: u32,
    /// Parts of a multiprocessor, each of which has its share of the registers.
    pub partitions: u32,
    /// The largest shared memory of a multiprocessor, in bytes.
    pub shared: u32,
    /// Shared memory is given to blocks in multiples of this.
    pub shared_unit: u32,
    /// Bytes of shared memory that each block takes for the system.
    pub shared_reserved: u32,
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
pub const ARCHITECTURES: [Architecture; 10] = [
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
    Architecture { name: "sm_70", shared: 96 << 10, shared_unit: 256, shared_reserved: 0, ..KEPLER_AND_LATER },
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
    Architecture { name: "sm_89", threads: 1536, blocks: 24, shared: 100 << 10, ..KEPLER_AND_LATER },
    Architecture { name: "sm_90", shared: 228 << 10, ..KEPLER_AND_LATER },
    Architecture { name: "sm_100", shared: 228 << 10, ..KEPLER_AND_LATER },
    Architecture { name: "sm_120", threads: 1536, blocks: 24, shared: 100 << 10, ..KEPLER_AND_LATER },
];

impl Architecture {
    /// The one with a name, `sm_80`.
    pub fn named(name: &str) -> Option<&'static Self> {
        ARCHITECTURES.iter().find(|known| known.name == name)
    }

    /// The shared memory that a block can have at most, in bytes.
    pub fn shared_of_block(&self) -> u32 {
        self.shared - self.shared_reserved
    }

    /// Those that a list names, `sm_80,sm_90`, each once; or what is wrong with it.
    pub fn list(names: &str) -> Result<Vec<Self>, String> {
        let mut found: Vec<Self> = Vec::new();
        for name in names.split(',').map(str::trim) {
            let known = Self::named(name).ok_or_else(|| {
                let names: Vec<&str> = ARCHITECTURES.iter().map(|known| known.name).collect();
                format!("`{name}` is not an architecture that is known; there are {}", names.join(", "))
            })?;
            if !found.contains(known) {
                found.push(*known);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_architectures_that_are_known() {
        let names =
            |list: &str| Architecture::list(list).map(|found| found.iter().map(|known| known.name).collect::<Vec<_>>());
        assert_eq!(names("sm_90, sm_21,sm_90"), Ok(vec!["sm_90", "sm_21"]));
        assert!(names("sm_90,sm_91").unwrap_err().contains("`sm_91`"));
        assert!(names("").is_err());
    }
}
