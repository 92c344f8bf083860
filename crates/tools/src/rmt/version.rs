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
}

impl Variant {
    /// In the order in which `auto` tries them.
    pub(super) const ALL: [Self; 3] = [Self::Pair, Self::PairNoShared, Self::Kernel];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Pair => "pair",
            Self::PairNoShared => "pair-no-shared",
        }
    }

    /// The variant of a name; `pair-shared` is `pair`.
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = if name == "pair-shared" { "pair" } else { name };
        Self::ALL.into_iter().find(|variant| variant.name() == name)
    }

    /// Where its versions have shared memory; nothing if it has none of its own.
    pub(super) fn shared(self) -> Option<Shared> {
        match self {
            Self::Kernel => None,
            Self::Pair => Some(Shared::Doubled),
            Self::PairNoShared => Some(Shared::Common),
        }
    }
}

/// Where the threads of a doubled block are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layout {
    /// The rows of the block are twice as long: after sixteen threads come their twins. Rows are multiples of sixteen.
    Rows,
    /// The block has twice as many rows: after two rows of eight threads come their twins.
    Eights,
    /// The block has rows of 32: sixteen threads in the order of the program, and their twins.
    Linear,
}

/// Whose shared memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shared {
    /// Each copy of a block has its own.
    Doubled,
    /// Both copies have one.
    Common,
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

/// A version in which twins are in one warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pair {
    pub(super) layout: Layout,
    pub(super) shared: Shared,
    /// Whether the launch may read what it writes, so that twins wait for each other around stores.
    pub(super) is_in_place: bool,
    pub(super) work: Work,
}

/// The version that is the kernel as the program has it.
pub(super) const ORIGINAL: usize = 0;

/// The same, for launches that run twice.
pub(super) const KERNEL: usize = 1;
/// The first version in which twins are in one warp.
const FIRST_PAIR: usize = 2;

/// The names of all versions, by their numbers.
pub(super) static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names = vec!["", "kernel"];
    names.extend((FIRST_PAIR..).map_while(|version| Some(&*Pair::numbered(version)?.name().leak())));
    names
});

/// All layouts, in the order of the numbers of versions.
const LAYOUTS: [Layout; 3] = [Layout::Rows, Layout::Eights, Layout::Linear];

impl Pair {
    /// The version of a number; nothing for those that are the original.
    pub(super) fn numbered(version: usize) -> Option<Self> {
        let number = version.checked_sub(FIRST_PAIR)?;
        Some(Self {
            is_in_place: number & 1 != 0,
            shared: if number & 2 != 0 { Shared::Common } else { Shared::Doubled },
            layout: LAYOUTS[number / 4 % LAYOUTS.len()],
            work: *Work::ALL.get(number / 4 / LAYOUTS.len())?,
        })
    }

    fn name(self) -> String {
        let layout = match self.layout {
            Layout::Rows => "",
            Layout::Eights => "-eights",
            Layout::Linear => "-linear",
        };
        let work = match self.work {
            Work::All => "",
            Work::NotCompared => "-not-compared",
            Work::Doubled => "-not-computed",
        };
        let shared = if self.shared == Shared::Common { "-no-shared" } else { "" };
        let order = if self.is_in_place { "-in-place" } else { "" };
        format!("pair{work}{layout}{shared}{order}")
    }

    pub(super) fn number(self) -> usize {
        let layout = LAYOUTS.iter().position(|layout| *layout == self.layout).expect("all layouts have versions");
        let work = Work::ALL.iter().position(|work| *work == self.work).expect("all work has versions");
        FIRST_PAIR
            + 4 * (layout + LAYOUTS.len() * work)
            + 2 * usize::from(self.shared == Shared::Common)
            + usize::from(self.is_in_place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_agree() {
        assert_eq!([ORIGINAL, KERNEL].map(Pair::numbered), [None; 2]);
        assert_eq!(NAMES.len(), FIRST_PAIR + 36);
        assert_eq!(NAMES[..4], ["", "kernel", "pair", "pair-in-place"]);
        for (number, name) in NAMES.iter().enumerate().skip(FIRST_PAIR) {
            let pair = Pair::numbered(number).unwrap();
            assert_eq!((pair.number(), pair.name().as_str()), (number, *name));
            assert_eq!(NAMES.iter().filter(|other| *other == name).count(), 1, "{name}");
        }
    }
}
