//! What caches architectures have.
//!
//! **Published.** How L1 and shared memory divide what they have: the CUDA C Programming Guide ("Shared Memory" of each compute
//! capability) and the tuning guides of Volta to Blackwell; for sm_21 the Fermi white paper. Lines of 128 bytes in sectors of 32:
//! the guide, and NVIDIA's "Kernel Profiling Guide". That L1 writes through, and loads whole lines on sm_21: the guide 3.2, F.4.2.
//! That sm_61 keeps in L1 only what is loaded as read-only, unless it is compiled otherwise: the Pascal tuning guide. Sizes of L2
//! and numbers of multiprocessors are those of a model: see `model.rs`; of sm_21 and sm_61, those of the GTX 550 Ti (a third of
//! the memory partitions of GF100, which has 768 KB) and of the white paper of the GTX 1080.
//!
//! **Measured by others.** The sets of L1: Mei and Chu, "Dissecting GPU Memory Hierarchy through Microbenchmarking" (IEEE TPDS
//! 2017) for sm_21, Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018) for sm_70; later ones
//! are assumed to be like Volta, which is what Accel-Sim assumes.
//!
//! **Assumed.** That the least recently used line is replaced, although both papers find that it is not always that one. That
//! L2 has 16 ways, spreads lines over its sets by a hash, and is one cache; those of sm_80 and later are two halves that copy
//! from each other.

use crate::architecture::Architecture;

/// The caches of an architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caches {
    /// Of which architecture.
    pub name: &'static str,
    /// The model whose multiprocessors and L2 these are.
    pub model: &'static str,
    /// How many multiprocessors it has.
    pub multiprocessors: u32,
    /// Bytes of L2.
    pub l2: u32,
    /// Bytes of a multiprocessor that L1 and shared memory divide.
    pub unified: u32,
    /// How much of it can be shared memory, in bytes, in rising order; the rest is L1.
    pub carveouts: &'static [u32],
    /// What is done where nobody asks for anything.
    pub default_carveout: DefaultCarveout,
    /// What L1 loads when something is not there.
    pub fill: Fill,
    /// Which loads L1 keeps.
    pub keeps: Keeps,
    /// What L1 does with a store.
    pub stores: Stores,
}

/// How memory is divided where nobody asks for anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefaultCarveout {
    /// As much shared memory as there can be.
    Largest,
    /// As much as the blocks need that fit otherwise.
    Needed,
}

/// What is loaded when something is not in L1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// The line of 128 bytes.
    Line,
    /// The sector of 32 bytes.
    Sector,
}

/// Which loads of global memory are kept in L1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeps {
    /// All of them.
    All,
    /// Those of memory that is only read (`ld.global.nc`).
    ReadOnly,
}

/// What happens in L1 to a store, which goes on to L2 in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stores {
    /// The line is not in L1 any more.
    Evict,
    /// What is in L1 is changed; what is not does not come into it.
    Update,
}

/// Sets and ways of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheShape {
    /// How many sets there are.
    pub sets: u32,
    /// How many lines each has.
    pub ways: u32,
    /// Whether the set of a line is a hash of its number; else it is the number modulo that of the sets.
    pub is_hashed: bool,
}

/// Bytes of a line.
pub const LINE: u32 = 128;
const L2_WAYS: u32 = 16;

const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;
const UP_TO_100: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB];
const UP_TO_228: &[u32] =
    &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB, 196 * KIB, 228 * KIB];

const VOLTA_AND_LATER: Caches = Caches {
    name: "",
    model: "",
    multiprocessors: 0,
    l2: 0,
    unified: 128 * KIB,
    carveouts: UP_TO_100,
    default_carveout: DefaultCarveout::Needed,
    fill: Fill::Sector,
    keeps: Keeps::All,
    stores: Stores::Update,
};

/// Those of all architectures, in their order.
pub const CACHES: [Caches; 10] = [
    Caches {
        name: "sm_21",
        model: "GeForce GTX 550 Ti",
        multiprocessors: 4,
        l2: 384 * KIB,
        unified: 64 * KIB,
        carveouts: &[16 * KIB, 48 * KIB],
        default_carveout: DefaultCarveout::Largest,
        fill: Fill::Line,
        keeps: Keeps::All,
        stores: Stores::Evict,
    },
    Caches {
        name: "sm_61",
        model: "GeForce GTX 1080",
        multiprocessors: 20,
        l2: 2 * MIB,
        // Shared memory is apart from L1.
        unified: (96 + 48) * KIB,
        carveouts: &[96 * KIB],
        default_carveout: DefaultCarveout::Largest,
        fill: Fill::Sector,
        keeps: Keeps::ReadOnly,
        stores: Stores::Update,
    },
    Caches {
        name: "sm_70",
        model: "Tesla V100-SXM2-16GB",
        multiprocessors: 80,
        l2: 6 * MIB,
        carveouts: &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 96 * KIB],
        ..VOLTA_AND_LATER
    },
    Caches {
        name: "sm_75",
        model: "Tesla T4",
        multiprocessors: 40,
        l2: 4 * MIB,
        unified: 96 * KIB,
        carveouts: &[32 * KIB, 64 * KIB],
        ..VOLTA_AND_LATER
    },
    Caches {
        name: "sm_80",
        model: "NVIDIA A100-SXM4-40GB",
        multiprocessors: 108,
        l2: 40 * MIB,
        unified: 192 * KIB,
        carveouts: &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB],
        ..VOLTA_AND_LATER
    },
    Caches { name: "sm_86", model: "NVIDIA A10", multiprocessors: 72, l2: 6 * MIB, ..VOLTA_AND_LATER },
    Caches { name: "sm_89", model: "NVIDIA L4", multiprocessors: 58, l2: 48 * MIB, ..VOLTA_AND_LATER },
    Caches {
        name: "sm_90",
        model: "NVIDIA H100 80GB HBM3",
        multiprocessors: 132,
        l2: 50 * MIB,
        unified: 256 * KIB,
        carveouts: UP_TO_228,
        ..VOLTA_AND_LATER
    },
    Caches {
        name: "sm_100",
        model: "NVIDIA B200",
        multiprocessors: 148,
        l2: 126 * MIB,
        unified: 256 * KIB,
        carveouts: UP_TO_228,
        ..VOLTA_AND_LATER
    },
    Caches { name: "sm_120", model: "NVIDIA GeForce RTX 5090", multiprocessors: 170, l2: 96 * MIB, ..VOLTA_AND_LATER },
];

impl Architecture {
    /// Its caches.
    pub fn caches(&self) -> &'static Caches {
        CACHES.iter().find(|caches| caches.name == self.name).expect("all have theirs")
    }
}

impl Caches {
    /// L1, beside so much shared memory.
    pub fn l1(&self, shared: u32) -> CacheShape {
        let bytes = self.unified.saturating_sub(shared);
        let sets = match (self.name, bytes / KIB) {
            ("sm_21", ..32) => 32,
            ("sm_21", _) => 64,
            _ => 4,
        };
        CacheShape { sets, ways: bytes / LINE / sets, is_hashed: false }
    }

    /// The share of some multiprocessors in L2, which is all of it for all of them.
    pub fn l2(&self, multiprocessors: u32) -> CacheShape {
        let sets = u64::from(self.l2 / LINE / L2_WAYS) * u64::from(multiprocessors) / u64::from(self.multiprocessors);
        CacheShape { sets: (sets as u32).max(1), ways: L2_WAYS, is_hashed: true }
    }
}

impl CacheShape {
    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.ways) * u64::from(LINE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ARCHITECTURES, MODELS};

    #[test]
    fn caches_are_those_of_models_that_are_known() {
        for (architecture, caches) in ARCHITECTURES.iter().zip(CACHES) {
            assert_eq!(architecture.name, caches.name);
            assert_eq!(architecture.caches().carveouts.last(), Some(&architecture.shared), "{}", caches.name);
            let of_model = MODELS.iter().find(|model| model.name == caches.model);
            let numbers = of_model.map(|model| (model.multiprocessors, model.l2));
            let is_old = ["sm_21", "sm_61"].contains(&caches.name);
            assert_eq!(numbers, (!is_old).then_some((caches.multiprocessors, caches.l2)), "{}", caches.name);
        }
    }

    #[test]
    fn l1_is_what_shared_memory_leaves() {
        let l1 = |name: &str, shared: u32| {
            let shape = Architecture::named(name).unwrap().caches().l1(shared * KIB);
            (shape.sets, shape.ways, shape.bytes() / u64::from(KIB))
        };
        assert_eq!(l1("sm_21", 48), (32, 4, 16));
        assert_eq!(l1("sm_21", 16), (64, 6, 48));
        assert_eq!(l1("sm_61", 96), (4, 96, 48));
        assert_eq!(l1("sm_80", 0), (4, 384, 192));
        assert_eq!(l1("sm_90", 228), (4, 56, 28));
    }

    #[test]
    fn multiprocessors_have_shares_in_l2() {
        let caches = Architecture::named("sm_80").unwrap().caches();
        assert_eq!(caches.l2(108).bytes(), 40 << 20);
        assert_eq!(caches.l2(27).bytes(), 10 << 20);
    }
}
