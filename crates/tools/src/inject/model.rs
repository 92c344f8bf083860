//! What goes wrong: the models of faults.

use super::version::{self, Version};

/// A model of faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Model {
    /// One bit of what an instruction writes into a register.
    SingleBit,
    /// Two bits of it, side by side.
    DoubleBit,
    /// It is any other value.
    RandomValue,
    /// It is zero.
    ZeroValue,
    /// What an instruction writes into a predicate is the opposite.
    Predicate,
    /// One bit of an id or a size that a thread reads.
    ThreadId,
    /// One bit of the address of an access.
    Address,
    /// One bit of what is stored.
    StoreData,
    /// An instruction has no effect.
    Skip,
    /// One bit of a register that holds something, at any time.
    RegisterFile,
    /// One bit of memory, before the launch.
    MemoryCell,
    /// The same bit of what an instruction writes, in all lanes of a warp.
    WarpWide,
    /// A bit of all that a kind of unit computes in one lane of all warps is always 0, or always 1.
    StuckLane,
    /// A bit of all that a kind of unit computes in one lane of all warps is always wrong.
    Permanent,
    /// One bit of what an instruction writes into a register that another tool inserted.
    InsertedBit,
}

/// Of what there are so many in a launch: where a model can strike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stratum {
    /// Registers that instructions write, predicates left out.
    Results,
    /// Predicates that they write.
    Predicates,
    /// Registers written by instructions that read ids or sizes.
    Ids,
    /// Addresses in registers that accesses use.
    Addresses,
    /// Registers that are stored.
    Stores,
    /// Instructions.
    Instructions,
    /// Registers that instructions write which another tool inserted.
    Inserted,
}

impl Stratum {
    pub(super) const ALL: [Self; 7] =
        [Self::Results, Self::Predicates, Self::Ids, Self::Addresses, Self::Stores, Self::Instructions, Self::Inserted];

    /// Its place among all.
    pub(super) fn number(self) -> usize {
        self as usize
    }

    /// The bit that stands for it.
    pub(super) fn bit(self) -> u32 {
        1 << self.number()
    }
}

/// What happens to a value: numbers that `device.ptx` knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Single = 0,
    Double = 1,
    Random = 2,
    Zero = 3,
    /// Nothing: it is only found out what would be hit.
    None = 4,
}

impl Model {
    pub(super) const ALL: [Self; 15] = [
        Self::SingleBit,
        Self::DoubleBit,
        Self::RandomValue,
        Self::ZeroValue,
        Self::RegisterFile,
        Self::Predicate,
        Self::Address,
        Self::StoreData,
        Self::Skip,
        Self::ThreadId,
        Self::MemoryCell,
        Self::WarpWide,
        Self::StuckLane,
        Self::Permanent,
        Self::InsertedBit,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SingleBit => "single-bit",
            Self::DoubleBit => "double-bit",
            Self::RandomValue => "random-value",
            Self::ZeroValue => "zero-value",
            Self::Predicate => "predicate",
            Self::ThreadId => "thread-id",
            Self::Address => "address",
            Self::StoreData => "store-data",
            Self::Skip => "skip",
            Self::RegisterFile => "register-file",
            Self::MemoryCell => "memory-cell",
            Self::WarpWide => "warp-wide",
            Self::StuckLane => "stuck-lane",
            Self::Permanent => "permanent",
            Self::InsertedBit => "inserted-bit",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.name() == name)
    }

    /// Where it strikes; trials are as likely in a launch as it has of these.
    pub(super) fn stratum(self) -> Stratum {
        match self {
            Self::SingleBit
            | Self::DoubleBit
            | Self::RandomValue
            | Self::ZeroValue
            | Self::WarpWide
            | Self::StuckLane
            | Self::Permanent
            | Self::MemoryCell => Stratum::Results,
            Self::Predicate => Stratum::Predicates,
            Self::ThreadId => Stratum::Ids,
            Self::Address => Stratum::Addresses,
            Self::StoreData => Stratum::Stores,
            Self::Skip | Self::RegisterFile => Stratum::Instructions,
            Self::InsertedBit => Stratum::Inserted,
        }
    }

    /// Its number: trials of models with the same strata are not at the same places.
    pub(super) fn number(self) -> u32 {
        self as u32
    }

    /// The version of a kernel in which it can strike.
    pub(super) fn version(self) -> Version {
        match self {
            Self::SingleBit
            | Self::DoubleBit
            | Self::RandomValue
            | Self::ZeroValue
            | Self::ThreadId
            | Self::WarpWide => version::RESULTS,
            Self::Predicate => version::PREDICATES,
            Self::Address | Self::StoreData => version::OPERANDS,
            Self::Skip => version::SKIP,
            Self::RegisterFile => version::REGISTERS,
            Self::StuckLane | Self::Permanent => version::LANES,
            Self::MemoryCell => version::PLAIN,
            Self::InsertedBit => version::INSERTED,
        }
    }

    /// Whether it strikes only what other tools make of a kernel: the kernel as it is has none of its places.
    pub(super) fn needs_protection(self) -> bool {
        self == Self::InsertedBit
    }

    pub(super) fn operation(self) -> Operation {
        match self {
            Self::DoubleBit => Operation::Double,
            Self::RandomValue => Operation::Random,
            Self::ZeroValue => Operation::Zero,
            _ => Operation::Single,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_strata_have_their_places() {
        for model in Model::ALL {
            assert_eq!(Model::named(model.name()), Some(model));
        }
        for (place, stratum) in Stratum::ALL.into_iter().enumerate() {
            assert_eq!(stratum.number(), place);
        }
    }
}
