//! The counters of a site, and what they say.
//!
//! A site of an access or branch is several sites of the module, one for each counter, so that the counters follow each other.
//! The word of each says which counter it is, and of what.

/// The largest step from lane to lane of costly requests, added to [`STEP_ZERO`], and the smallest one, subtracted from it.
pub(super) const LARGEST_STEP: u64 = 4;
pub(super) const SMALLEST_STEP: u64 = 5;
/// Costly requests without a step.
pub(super) const IRREGULAR: u64 = 6;
/// How many counters an access has.
pub(super) const COUNTERS_OF_ACCESS: u64 = 7;
/// Larger than any step.
pub(super) const STEP_ZERO: u64 = 1 << 62;

/// Requests of an access, or executions of a branch.
pub(super) const REQUESTS: u64 = 0;
/// Sectors beyond one for each request.
pub(super) const MORE_SECTORS: u64 = 1;
/// Lines beyond one for each request.
pub(super) const MORE_LINES: u64 = 2;
/// Lanes that do not take part in requests.
pub(super) const MISSING_LANES: u64 = 3;
/// Passes beyond one for each request.
pub(super) const MORE_PASSES: u64 = 1;
/// The most lanes in one bank, in one pass, without the first.
pub(super) const MORE_WAYS: u64 = 2;
/// Executions of a branch at which lanes part.
pub(super) const DIVERGENT: u64 = 1;
/// Lanes that wait then.
pub(super) const IDLE_LANES: u64 = 2;

/// Requests of whole warps to shared memory whose step is known from the text, if they have conflicts.
pub(super) const REGULAR: u64 = 3;

/// Of what a site counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Kind {
    /// Accesses to global memory.
    Global(AccessOfSite),
    /// Accesses to shared memory.
    Shared(AccessOfSite),
    /// Executions of a branch.
    Branch {
        /// Whether warps with all lanes are counted by the group before it.
        is_grouped: bool,
    },
    /// Warps with all lanes that go through some instructions, all of which are executed if one is.
    Group,
}

/// What is known of an access from the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct AccessOfSite {
    pub(super) access: AccessType,
    /// Of each lane.
    pub(super) bytes: u32,
    /// How far lanes are from each other, in bytes, if that is always the same.
    pub(super) stride: Option<i16>,
    /// What a request of a whole warp comes to in the banks, if that is always the same and lanes are not a stride apart.
    pub(super) conflict: Option<Conflict>,
    pub(super) l1: L1Use,
    /// Whether requests of whole warps are counted by the group before it.
    pub(super) is_grouped: bool,
}

/// What a request of a whole warp comes to in the banks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Conflict {
    /// The most different words of one bank, in one turn.
    pub(super) ways: u8,
    /// Passes of all turns.
    pub(super) passes: u8,
}

impl Conflict {
    /// Of lanes that each access some bytes, so far from somewhere. Where that is does not matter: it moves all lanes by as many
    /// banks. Nothing if lanes may share words in part.
    pub(super) fn of(bytes: u32, distances: &[i64; 32]) -> Option<Self> {
        let unit = i64::from(bytes);
        if ![4, 8, 16].contains(&bytes) || distances.iter().any(|distance| distance % unit != 0) {
            return None;
        }
        let banks = i64::from(BANKS * 4 / bytes);
        let (mut most, mut passes) = (0, 0);
        // In a turn there are as many lanes as banks.
        for turn in distances.chunks(banks as usize) {
            let mut units: Vec<i64> = turn.iter().map(|distance| distance / unit).collect();
            units.sort_unstable();
            units.dedup();
            let in_bank = |bank: i64| units.iter().filter(|unit| unit.rem_euclid(banks) == bank).count() as u8;
            let ways = (0..banks).map(in_bank).max().unwrap_or(1);
            most = most.max(ways);
            passes += ways;
        }
        Some(Self { ways: most, passes })
    }
}

/// What an access to global memory asks of L1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub(super) enum L1Use {
    /// Nothing: what the architecture does.
    #[default]
    Default,
    /// It reads what nobody writes (`.nc`).
    ReadOnly,
    /// It goes past L1: `.cg`, `.cv`, and what is ordered.
    Bypassed,
}

/// The banks of shared memory.
const BANKS: u32 = 32;

impl AccessOfSite {
    /// Bytes that lanes access in shared memory at least: those of a bank.
    pub(super) fn unit(&self) -> u32 {
        self.bytes.clamp(4, 16)
    }

    /// Banks, as wide as what a lane accesses.
    pub(super) fn banks(&self) -> u32 {
        BANKS * 4 / self.unit()
    }

    /// How many lanes of a whole warp access one bank, if they are so many units apart.
    pub(super) fn ways(&self, step: i64) -> u64 {
        match step {
            0 => 1,
            step => 1 << step.trailing_zeros().min(self.banks().trailing_zeros()),
        }
    }

    /// Ways and passes of a request of a whole warp, if they are known.
    pub(super) fn known_conflict(&self) -> Option<(u64, u64)> {
        let of_step = |step: i64| (self.ways(step), self.ways(step) * u64::from(self.unit() / 4));
        let of_conflict = |Conflict { ways, passes }: Conflict| (ways.into(), passes.into());
        self.step().map(of_step).or(self.conflict.map(of_conflict))
    }

    /// The stride, in units, if it is known; that of lanes that share units is 0.
    pub(super) fn step(&self) -> Option<i64> {
        let (stride, unit) = (i64::from(self.stride?), i64::from(self.unit()));
        match stride {
            stride if stride % unit == 0 => Some(stride / unit),
            // Lanes access parts of words that follow each other.
            stride if stride.abs() < unit => Some(0),
            _ => None,
        }
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum AccessType {
    Load,
    Store,
    Atomic,
}

/// What was counted of an access to global memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct GlobalCounts {
    pub(super) requests: u64,
    pub(super) sectors: u64,
    pub(super) lines: u64,
    /// Bytes that lanes asked for.
    pub(super) bytes: u64,
}

/// What was counted of an access to shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct SharedCounts {
    pub(super) requests: u64,
    pub(super) passes: u64,
    /// The most lanes in one bank that do not access the same.
    pub(super) most_ways: u64,
}

/// The steps of costly requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Steps {
    largest: u64,
    smallest: u64,
    irregular: u64,
}

/// What was counted of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct BranchCounts {
    pub(super) executed: u64,
    pub(super) divergent: u64,
    pub(super) idle_lanes: u64,
}

const COUNTER_BITS: u32 = 4;
const SPACE: u32 = 4;
const ACCESS: u32 = 8;
const L1_USE: u32 = 12;
/// Where in a word is how many bytes a lane accesses, in eight bits.
pub(super) const BYTES: u32 = 16;
const HAS_STRIDE: u32 = 24;
const IS_GROUPED: u32 = 25;
const STRIDE: u32 = 32;
/// Where ways and passes are; both are 0 if they are not known.
const WAYS: u32 = 48;
const PASSES: u32 = 56;

impl Kind {
    /// How many counters there are.
    pub(super) fn counters(self) -> u64 {
        match self {
            Self::Global(_) | Self::Shared(_) => COUNTERS_OF_ACCESS,
            Self::Branch { .. } => IDLE_LANES + 1,
            Self::Group => 1,
        }
    }

    /// Which counter of it has the warps that a group has counted.
    pub(super) fn counter_of_group(self) -> Option<u64> {
        match self {
            Self::Global(AccessOfSite { is_grouped: true, .. }) | Self::Branch { is_grouped: true } => Some(REQUESTS),
            Self::Shared(access) if access.is_grouped => {
                Some(if access.known_conflict().is_some_and(|(_, passes)| passes > 1) { REGULAR } else { REQUESTS })
            }
            _ => None,
        }
    }

    /// The word of a counter.
    pub(super) fn word(self, counter: u64) -> u64 {
        let (space, access) = match self {
            Self::Global(access) => (0, Some(access)),
            Self::Shared(access) => (1, Some(access)),
            Self::Branch { .. } => (2, None),
            Self::Group => (3, None),
        };
        let is_grouped = u64::from(self.counter_of_group().is_some()) << IS_GROUPED;
        let of_access = |AccessOfSite { access, bytes, stride, conflict, l1, .. }: AccessOfSite| {
            let of_conflict =
                |Conflict { ways, passes }: Conflict| u64::from(ways) << WAYS | u64::from(passes) << PASSES;
            let conflict = conflict.map_or(0, of_conflict);
            let stride = stride.map_or(0, |stride| 1 << HAS_STRIDE | u64::from(stride.cast_unsigned()) << STRIDE);
            (access as u64) << ACCESS | (l1 as u64) << L1_USE | u64::from(bytes) << BYTES | stride | conflict
        };
        counter | space << SPACE | is_grouped | access.map_or(0, of_access)
    }

    /// What a word says: of what it is, and which counter.
    pub(super) fn of_word(word: u64) -> Option<(Self, u64)> {
        let is_grouped = word >> IS_GROUPED & 1 != 0;
        let access = AccessOfSite {
            access: match word >> ACCESS & 0xf {
                0 => AccessType::Load,
                1 => AccessType::Store,
                _ => AccessType::Atomic,
            },
            conflict: match ((word >> WAYS) as u8, (word >> PASSES) as u8) {
                (0, _) => None,
                (ways, passes) => Some(Conflict { ways, passes }),
            },
            l1: match word >> L1_USE & 0xf {
                0 => L1Use::Default,
                1 => L1Use::ReadOnly,
                _ => L1Use::Bypassed,
            },
            bytes: (word >> BYTES) as u32 & 0xff,
            stride: (word >> HAS_STRIDE & 1 != 0).then(|| ((word >> STRIDE) as u16).cast_signed()),
            is_grouped,
        };
        let kind = match word >> SPACE & 0xf {
            0 => Self::Global(access),
            1 => Self::Shared(access),
            2 => Self::Branch { is_grouped },
            3 => Self::Group,
            _ => return None,
        };
        Some((kind, word & ((1 << COUNTER_BITS) - 1)))
    }
}

impl AccessType {
    /// As tables say it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
        }
    }
}

impl GlobalCounts {
    /// Takes what one counter of an access of some bytes has.
    pub(super) fn count(&mut self, counter: u64, count: u64, bytes: u32) {
        match counter {
            REQUESTS => {
                self.requests += count;
                self.sectors += count;
                self.lines += count;
                self.bytes += count * 32 * u64::from(bytes);
            }
            MORE_SECTORS => self.sectors += count,
            MORE_LINES => self.lines += count,
            MISSING_LANES => self.bytes = self.bytes.wrapping_sub(count * u64::from(bytes)),
            _ => {}
        }
    }

    /// Adds those of another site.
    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.bytes += other.bytes;
    }
}

impl SharedCounts {
    /// Adds those of another site.
    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.passes += other.passes;
        self.most_ways = self.most_ways.max(other.most_ways);
    }

    /// Takes what one counter of an access has.
    pub(super) fn count(&mut self, counter: u64, count: u64, access: &AccessOfSite) {
        match counter {
            REQUESTS => {
                self.requests += count;
                self.passes += count;
                self.most_ways = self.most_ways.max(1);
            }
            REGULAR => {
                let (ways, passes) = access.known_conflict().unwrap_or((1, 1));
                self.requests += count;
                self.passes += count * passes;
                self.most_ways = self.most_ways.max(ways);
            }
            MORE_PASSES => self.passes += count,
            MORE_WAYS => self.most_ways = self.most_ways.max(count + 1),
            _ => {}
        }
    }
}

impl Steps {
    /// Takes what one counter has.
    pub(super) fn count(&mut self, counter: u64, count: u64) {
        match counter {
            LARGEST_STEP => self.largest = self.largest.max(count),
            SMALLEST_STEP => self.smallest = self.smallest.max(count),
            IRREGULAR => self.irregular += count,
            _ => {}
        }
    }

    /// The step that all costly requests have.
    pub(super) fn only(&self) -> Option<i64> {
        let has_one = self.irregular == 0 && self.largest + self.smallest == 2 * STEP_ZERO;
        has_one.then(|| self.largest.wrapping_sub(STEP_ZERO).cast_signed())
    }
}

impl BranchCounts {
    /// Adds those of another site.
    pub(super) fn add(&mut self, other: &Self) {
        self.executed += other.executed;
        self.divergent += other.divergent;
        self.idle_lanes += other.idle_lanes;
    }

    /// Takes what one counter has.
    pub(super) fn count(&mut self, counter: u64, count: u64) {
        match counter {
            REQUESTS => self.executed += count,
            DIVERGENT => self.divergent += count,
            _ => self.idle_lanes += count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_they_are_of() {
        for stride in [None, Some(-132), Some(4)] {
            let conflict = stride.map(|_| Conflict { ways: 8, passes: 32 });
            let (access, l1, is_grouped) = (AccessType::Atomic, L1Use::Bypassed, stride.is_some());
            let access = AccessOfSite { access, bytes: 16, stride, conflict, l1, is_grouped };
            for kind in [Kind::Global(access), Kind::Shared(access), Kind::Branch { is_grouped }, Kind::Group] {
                assert_eq!(Kind::of_word(kind.word(3)), Some((kind, 3)));
            }
        }
    }

    #[test]
    fn lanes_in_rows_of_blocks_have_conflicts() {
        let of = |bytes: u32, distance: fn(i64) -> i64| {
            let distances = std::array::from_fn(|lane| distance(lane as i64));
            Conflict::of(bytes, &distances).map(|Conflict { ways, passes }| (ways, passes))
        };
        // Rows of 16 threads: all of a row read one word; both rows read the same 16; a column of 16 words.
        assert_eq!(of(4, |lane| lane / 16 * 64), Some((1, 1)));
        assert_eq!(of(4, |lane| lane % 16 * 4), Some((1, 1)));
        assert_eq!(of(4, |lane| lane % 16 * 64 + lane / 16 * 4), Some((8, 8)));
        // As strides have it.
        assert_eq!(of(4, |lane| lane * 128), Some((32, 32)));
        assert_eq!(of(8, |lane| lane * 8), Some((1, 2)));
        assert_eq!(of(16, |lane| lane * -16), Some((1, 4)));
        assert_eq!((of(2, |lane| lane * 2), of(4, |lane| lane * 2)), (None, None));
    }

    #[test]
    fn strides_in_shared_memory_have_ways() {
        let ways = |bytes, stride| {
            let access = AccessOfSite {
                access: AccessType::Load,
                bytes,
                stride: Some(stride),
                conflict: None,
                l1: L1Use::Default,
                is_grouped: false,
            };
            access.step().map(|step| access.ways(step))
        };
        assert_eq!([ways(4, 4), ways(4, 128), ways(4, -24), ways(4, 0)], [Some(1), Some(32), Some(2), Some(1)]);
        assert_eq!([ways(1, 1), ways(2, 2), ways(1, 5), ways(2, 8)], [Some(1), Some(1), None, Some(2)]);
        assert_eq!([ways(8, 8), ways(8, 256), ways(16, 128)], [Some(1), Some(16), Some(8)]);
    }
}
