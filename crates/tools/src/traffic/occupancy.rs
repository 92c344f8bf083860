//! How many warps of a launch a multiprocessor can have at once, as `cuda_occupancy.h` computes it.

use gpu::Architecture;

/// What a block of a launch needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct BlockNeeds {
    pub(super) threads: u32,
    /// Bytes of shared memory, that of the launch included.
    pub(super) shared: u64,
    /// Registers of each thread, if they are known.
    pub(super) registers: Option<u32>,
}

/// How full a multiprocessor can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Occupancy {
    pub(super) blocks: u32,
    /// Warps of these blocks.
    pub(super) warps: u32,
    /// Warps that there could be.
    pub(super) most_warps: u32,
    /// What keeps it from having more blocks.
    pub(super) limit: Limit,
}

/// What there is not enough of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Limit {
    Warps,
    Blocks,
    Registers,
    SharedMemory,
}

impl Occupancy {
    /// Of blocks on an architecture whose multiprocessors have so much shared memory. None fits if they need more than there is.
    pub(super) fn of(architecture: &Architecture, needs: &BlockNeeds, shared: u32) -> Self {
        Self::limited(architecture, needs, Some(shared))
    }

    /// If shared memory were no limit.
    pub(super) fn without_shared_limit(architecture: &Architecture, needs: &BlockNeeds) -> Self {
        Self::limited(architecture, needs, None)
    }

    /// Bytes of shared memory that a block takes.
    pub(super) fn shared_of_block(architecture: &Architecture, needs: &BlockNeeds) -> u64 {
        (needs.shared + u64::from(architecture.shared_reserved)).next_multiple_of(architecture.shared_unit.into())
    }

    fn limited(architecture: &Architecture, needs: &BlockNeeds, shared: Option<u32>) -> Self {
        let most_warps = architecture.threads / 32;
        let warps = needs.threads.div_ceil(32).max(1);
        let mut limits = vec![(most_warps / warps, Limit::Warps), (architecture.blocks, Limit::Blocks)];
        if let Some(registers) = needs.registers.filter(|&registers| registers > 0) {
            let of_warp = (registers * 32).next_multiple_of(register_unit(architecture, registers));
            let of_partition = architecture.registers / architecture.partitions / of_warp;
            limits.push((of_partition * architecture.partitions / warps, Limit::Registers));
        }
        let of_block = Self::shared_of_block(architecture, needs);
        if let Some(shared) = shared.filter(|_| of_block > 0) {
            limits.push(((u64::from(shared) / of_block) as u32, Limit::SharedMemory));
        }
        let (blocks, limit) = limits.into_iter().min().expect("there are two at least");
        Self { blocks, warps: blocks * warps, most_warps, limit }
    }
}

/// Registers are given to warps in multiples of this. On Fermi that depends on how many each thread has.
fn register_unit(architecture: &Architecture, registers: u32) -> u32 {
    let is_odd = architecture.name == "sm_21" && matches!(registers, 21 | 22 | 29 | 30 | 37 | 38 | 45 | 46);
    if is_odd { 2 * architecture.register_unit } else { architecture.register_unit }
}

impl Limit {
    /// In words.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Blocks => "blocks",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, threads: u32, shared: u64, registers: u32) -> (u32, u32, Limit) {
        let needs = BlockNeeds { threads, shared, registers: Some(registers) };
        let architecture = Architecture::named(name).unwrap();
        let Occupancy { blocks, warps, limit, .. } = Occupancy::of(architecture, &needs, architecture.shared);
        (blocks, warps, limit)
    }

    #[test]
    fn fermi_fills_by_block_size() {
        // Of 48 warps: 8 blocks of 2 are a third, 6 of 8 are all, one of 32 is two thirds.
        assert_eq!(of("sm_21", 64, 0, 20), (8, 16, Limit::Blocks));
        assert_eq!(of("sm_21", 256, 0, 20), (6, 48, Limit::Warps));
        assert_eq!(of("sm_21", 1024, 0, 20), (1, 32, Limit::Warps));
        // 21 registers of 32 threads are 672, and 768 are taken: 42 warps.
        assert_eq!(of("sm_21", 32 * 7, 0, 21), (6, 42, Limit::Warps));
        assert_eq!(of("sm_21", 32 * 6, 0, 21), (7, 42, Limit::Registers));
    }

    #[test]
    fn registers_and_shared_memory_limit_blocks() {
        // 65,536 registers: 16 warps in each of four parts have 32 each, 8 have 64, 2 have 255.
        assert_eq!(of("sm_80", 256, 0, 32), (8, 64, Limit::Warps));
        assert_eq!(of("sm_80", 256, 0, 64), (4, 32, Limit::Registers));
        assert_eq!(of("sm_90", 32, 0, 255), (8, 8, Limit::Registers));
        // 1 KB is the system's: 48 + 1 fits three times into 164.
        assert_eq!(of("sm_80", 128, 48 << 10, 32), (3, 12, Limit::SharedMemory));
        assert_eq!(of("sm_61", 128, 48 << 10, 32), (2, 8, Limit::SharedMemory));
        assert_eq!(of("sm_86", 128, 100 << 10, 32), (0, 0, Limit::SharedMemory));
        assert_eq!(of("sm_120", 32, 0, 16), (24, 24, Limit::Blocks));
    }
}
