//! The versions of a kernel, and the variants that users ask for.

use std::sync::LazyLock;

/// How a kernel is protected, as users name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variant {
    /// The whole kernel runs twice, and what it leaves behind is compared.
    Kernel,
    /// Twins in one warp exchange values by shuffles; each has shared memory of its own.
    Pair,
    /// The same, but twins have one shared memory, and stores to it are compared, too.
    PairNoShared,
    /// Whole warps are twins, in one block, and have a log in shared memory.
    WarpPair,
    /// Blocks are twins, and have a log in global memory.
    Inter,
}

impl Variant {
    /// In the order in which `auto` tries them: the cheaper first.
    pub(super) const ALL: [Self; 5] = [Self::Pair, Self::PairNoShared, Self::Kernel, Self::WarpPair, Self::Inter];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Pair => "pair",
            Self::PairNoShared => "pair-no-shared",
            Self::WarpPair => "warp-pair",
            Self::Inter => "inter",
        }
    }

    /// The variant of a name; `pair-shared` is `pair`.
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = if name == "pair-shared" { "pair" } else { name };
        Self::ALL.into_iter().find(|variant| variant.name() == name)
    }

    /// Whether twins of a version are those of the variant.
    pub(super) fn has(self, pair: Pair) -> bool {
        match (self, pair.layout) {
            (Self::WarpPair, layout) => layout == Layout::Warps,
            (Self::Inter, layout) => layout == Layout::Blocks,
            (_, Layout::Warps | Layout::Blocks) => false,
            (Self::Pair, _) => pair.shared == Shared::Doubled,
            (Self::PairNoShared, _) => pair.shared == Shared::Common,
            (Self::Kernel, _) => false,
        }
    }
}

/// Where twins are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layout {
    /// The rows of the block are twice as long: after sixteen threads come their twins. Rows are multiples of sixteen.
    Rows,
    /// The block has twice as many rows: after two rows of eight threads come their twins.
    Eights,
    /// The block has rows of 32: sixteen threads in the order of the program, and their twins.
    Linear,
    /// The rows of the block are twice as long: after every thread comes its twin. Rows have any length.
    Neighbours,
    /// The block is twice as deep: after all of its warps come their twins.
    Warps,
    /// In another block: there are twice as many.
    Blocks,
}

/// How twins tell each other something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exchange {
    /// By shuffles, from register to register.
    Shuffle,
    /// Each writes into a slot of its own in shared memory, and reads that of the other.
    Slots,
    /// The first writes into a log, and the second reads it: twins are not in one warp.
    Log,
}

impl Exchange {
    /// Those that users can ask for.
    pub(super) const ALL: [Self; 2] = [Self::Shuffle, Self::Slots];

    /// As users name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Shuffle => "shuffle",
            Self::Slots => "slots",
            Self::Log => "log",
        }
    }
}

/// Whose shared memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shared {
    /// Each copy of a block has its own.
    Doubled,
    /// Both copies have one.
    Common,
}

impl Shared {
    /// In the order of the numbers of versions.
    const ALL: [Self; 2] = [Self::Doubled, Self::Common];
}

/// How much of the work is done, to tell what costs how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// All of it.
    All,
    /// Twins compute, and hand over what they must, but do not compare.
    NotCompared,
    /// Blocks are doubled, and twins end at once.
    Doubled,
}

impl Work {
    /// In the order of the numbers of versions.
    pub(super) const ALL: [Self; 3] = [Self::All, Self::NotCompared, Self::Doubled];

    /// As users name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::All => "nothing",
            Self::NotCompared => "comparison",
            Self::Doubled => "computation",
        }
    }
}

/// A version in which every thread has a twin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pair {
    pub(super) layout: Layout,
    pub(super) exchange: Exchange,
    pub(super) shared: Shared,
    /// Whether the launch may read what it writes, so that twins wait for each other around stores.
    pub(super) is_in_place: bool,
    pub(super) work: Work,
}

/// The version that is the kernel as the program has it.
pub(super) const ORIGINAL: usize = 0;

/// The same, for launches that run twice.
pub(super) const KERNEL: usize = 1;
/// The first version in which every thread has a twin.
const FIRST_PAIR: usize = 2;

/// The names of all versions, by their numbers.
pub(super) static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names = vec!["", "kernel"];
    names.extend(PAIRS.iter().map(|pair| &*pair.name().leak()));
    names
});

/// All versions in which every thread has a twin, in the order of their numbers.
static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let layouts = [Layout::Rows, Layout::Eights, Layout::Linear, Layout::Neighbours];
    let mut pairs = Vec::new();
    for (work, exchange) in Work::ALL.into_iter().flat_map(|work| Exchange::ALL.map(|exchange| (work, exchange))) {
        for (layout, shared) in layouts.into_iter().flat_map(|layout| Shared::ALL.map(|shared| (layout, shared))) {
            pairs.extend([false, true].map(|is_in_place| Pair { layout, exchange, shared, is_in_place, work }));
        }
    }
    // Versions of which something is left out are there to tell what that costs: one exchange is enough.
    pairs.retain(|pair| pair.work == Work::All || pair.exchange == Exchange::Shuffle);
    for (layout, work) in
        [Layout::Warps, Layout::Blocks].into_iter().flat_map(|layout| Work::ALL.map(|work| (layout, work)))
    {
        let (exchange, shared) = (Exchange::Log, Shared::Doubled);
        pairs.extend([false, true].map(|is_in_place| Pair { layout, exchange, shared, is_in_place, work }));
    }
    pairs
});

impl Pair {
    /// The version of a number; nothing for those that are the original.
    pub(super) fn numbered(version: usize) -> Option<Self> {
        PAIRS.get(version.checked_sub(FIRST_PAIR)?).copied()
    }

    /// Whether twins have a log between them, of which the second does what is done once.
    pub(super) fn has_log(self) -> bool {
        self.exchange == Exchange::Log
    }

    /// Whether a block has the shared memory of two copies.
    pub(super) fn doubles_shared(self) -> bool {
        self.shared == Shared::Doubled && self.layout != Layout::Blocks
    }

    fn name(self) -> String {
        let variant = match self.layout {
            Layout::Warps => Variant::WarpPair.name(),
            Layout::Blocks => Variant::Inter.name(),
            _ => Variant::Pair.name(),
        };
        let layout = match self.layout {
            Layout::Rows | Layout::Warps | Layout::Blocks => "",
            Layout::Eights => "-eights",
            Layout::Linear => "-linear",
            Layout::Neighbours => "-neighbours",
        };
        let work = match self.work {
            Work::All => "",
            Work::NotCompared => "-not-compared",
            Work::Doubled => "-not-computed",
        };
        let exchange = if self.exchange == Exchange::Slots { "-slots" } else { "" };
        let shared = if self.shared == Shared::Common { "-no-shared" } else { "" };
        let order = if self.is_in_place { "-in-place" } else { "" };
        format!("{variant}{work}{layout}{exchange}{shared}{order}")
    }

    pub(super) fn number(self) -> usize {
        FIRST_PAIR + PAIRS.iter().position(|pair| *pair == self).expect("all versions have a number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_agree() {
        assert_eq!([ORIGINAL, KERNEL].map(Pair::numbered), [None; 2]);
        assert_eq!(NAMES.len(), FIRST_PAIR + 64 + 12);
        assert_eq!(NAMES[..4], ["", "kernel", "pair", "pair-in-place"]);
        for (number, name) in NAMES.iter().enumerate().skip(FIRST_PAIR) {
            let pair = Pair::numbered(number).unwrap();
            assert_eq!((pair.number(), pair.name().as_str()), (number, *name));
            assert_eq!(NAMES.iter().filter(|other| *other == name).count(), 1, "{name}");
        }
    }
}
