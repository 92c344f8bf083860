//! Models, as they are sold and as their driver describes them.
//!
//! **Sources.** Multiprocessors, caches and buses: NVIDIA's white papers of Volta (V100), Turing (T4), Ampere (A100; GA102),
//! Ada (AD102), Hopper (H100) and Blackwell (RTX), and the data sheets of T4, A10, L4 and B200. Clocks, memory and its bus, as
//! `cudaGetDeviceProperties` says them: published outputs of the sample `deviceQuery`; for B200, pytorch/ao #4002. Memory is
//! what is left of it for programs, which depends on the driver by a percent or two.

use crate::architecture::Architecture;

/// A model of a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// What it is called for short, as a flag has it.
    pub key: &'static str,
    /// What its driver calls it.
    pub name: &'static str,
    /// Its compute capability, as ten times the number.
    pub capability: u32,
    /// How many multiprocessors it has.
    pub multiprocessors: u32,
    /// Its highest clock rate, in megahertz.
    pub clock: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// The clock rate of its memory, in megahertz.
    pub memory_clock: u32,
    /// How wide its memory is, in bits.
    pub bus: u32,
    /// Bytes of its second cache.
    pub l2: u32,
    /// How many times as fast numbers of single precision are as those of double precision.
    pub single_to_double: u32,
}

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// All that are known, by age.
pub const MODELS: [Model; 10] = [
    Model {
        key: "v100",
        name: "Tesla V100-SXM2-16GB",
        capability: 70,
        multiprocessors: 80,
        clock: 1530,
        memory: 16_151 * MIB,
        memory_clock: 877,
        bus: 4096,
        l2: 6 << 20,
        single_to_double: 2,
    },
    Model {
        key: "t4",
        name: "Tesla T4",
        capability: 75,
        multiprocessors: 40,
        clock: 1590,
        memory: 15_110 * MIB,
        memory_clock: 5001,
        bus: 256,
        l2: 4 << 20,
        single_to_double: 32,
    },
    Model {
        key: "a100",
        name: "NVIDIA A100-SXM4-40GB",
        capability: 80,
        multiprocessors: 108,
        clock: 1410,
        memory: 40_536 * MIB,
        memory_clock: 1215,
        bus: 5120,
        l2: 40 << 20,
        single_to_double: 2,
    },
    Model {
        key: "a10",
        name: "NVIDIA A10",
        capability: 86,
        multiprocessors: 72,
        clock: 1695,
        memory: 22_731 * MIB,
        memory_clock: 6251,
        bus: 384,
        l2: 6 << 20,
        single_to_double: 32,
    },
    Model {
        key: "rtx3090",
        name: "NVIDIA GeForce RTX 3090",
        capability: 86,
        multiprocessors: 82,
        clock: 1695,
        memory: 24_268 * MIB,
        memory_clock: 9751,
        bus: 384,
        l2: 6 << 20,
        single_to_double: 32,
    },
    Model {
        key: "l4",
        name: "NVIDIA L4",
        capability: 89,
        multiprocessors: 58,
        clock: 2040,
        memory: 22_491 * MIB,
        memory_clock: 6251,
        bus: 192,
        l2: 48 << 20,
        single_to_double: 64,
    },
    Model {
        key: "rtx4090",
        name: "NVIDIA GeForce RTX 4090",
        capability: 89,
        multiprocessors: 128,
        clock: 2520,
        memory: 24_217 * MIB,
        memory_clock: 10_501,
        bus: 384,
        l2: 72 << 20,
        single_to_double: 64,
    },
    Model {
        key: "h100",
        name: "NVIDIA H100 80GB HBM3",
        capability: 90,
        multiprocessors: 132,
        clock: 1980,
        memory: 81_090 * MIB,
        memory_clock: 2619,
        bus: 5120,
        l2: 50 << 20,
        single_to_double: 2,
    },
    Model {
        key: "b200",
        name: "NVIDIA B200",
        capability: 100,
        multiprocessors: 148,
        clock: 1965,
        memory: 178 * GIB,
        memory_clock: 3996,
        bus: 7680,
        l2: 126 << 20,
        single_to_double: 2,
    },
    Model {
        key: "rtx5090",
        name: "NVIDIA GeForce RTX 5090",
        capability: 120,
        multiprocessors: 170,
        clock: 2407,
        memory: 32_109 * MIB,
        memory_clock: 14_001,
        bus: 512,
        l2: 96 << 20,
        single_to_double: 64,
    },
];

impl Model {
    /// The one that is meant by a short name, in whatever case.
    pub fn named(key: &str) -> Option<&'static Self> {
        MODELS.iter().find(|model| model.key.eq_ignore_ascii_case(key))
    }

    /// The one that a flag names, or why there is none.
    pub fn parse(key: &str) -> Result<&'static Self, String> {
        Self::named(key).ok_or_else(|| {
            let known: Vec<&str> = MODELS.iter().map(|model| model.key).collect();
            format!("it is none that is known; there are {}", known.join(", "))
        })
    }

    /// Its architecture.
    pub fn architecture(&self) -> &'static Architecture {
        // A GPU that is newer than the table is like the newest before it.
        let names = (0..=self.capability).rev().map(|capability| format!("sm_{capability}"));
        names.into_iter().find_map(|name| Architecture::named(&name)).expect("no GPU is older than the table")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_an_architecture() {
        for model in &MODELS {
            assert!(model.architecture().shared_of_block() >= 48 << 10, "{}", model.name);
            assert_eq!(Model::named(&model.key.to_uppercase()), Some(model));
        }
        assert_eq!(Model::parse("a100").unwrap().architecture().shared_of_block(), 163 << 10);
    }

    #[test]
    fn what_is_no_model_is_refused() {
        assert!(Model::parse("gtx").unwrap_err().contains("h100"));
    }
}
