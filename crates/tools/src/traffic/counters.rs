//! The counters of a site, and what they say.
//!
//! A site of an access or branch is several sites of the module, one for each counter, so that the counters follow each other.
//! The word of each says which counter it is, and of what.

/// Requests of an access, or executions of a branch.
const REQUESTS: u64 = 0;
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

/// Of what a site counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Kind {
    /// Accesses to global memory.
    Global { access: AccessType, bytes: u32 },
    /// Accesses to shared memory.
    Shared { access: AccessType, bytes: u32 },
    /// Executions of a branch.
    Branch,
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
const BYTES: u32 = 16;

impl Kind {
    /// How many counters there are.
    pub(super) fn counters(self) -> u64 {
        match self {
            Self::Global { .. } => MISSING_LANES + 1,
            Self::Shared { .. } => MORE_WAYS + 1,
            Self::Branch => IDLE_LANES + 1,
        }
    }

    /// The word of a counter.
    pub(super) fn word(self, counter: u64) -> u64 {
        let (space, access, bytes) = match self {
            Self::Global { access, bytes } => (0, access, bytes),
            Self::Shared { access, bytes } => (1, access, bytes),
            Self::Branch => (2, AccessType::Load, 0),
        };
        counter | space << SPACE | (access as u64) << ACCESS | u64::from(bytes) << BYTES
    }

    /// What a word says: of what it is, and which counter.
    pub(super) fn of_word(word: u64) -> Option<(Self, u64)> {
        let access = match word >> ACCESS & 0xf {
            0 => AccessType::Load,
            1 => AccessType::Store,
            _ => AccessType::Atomic,
        };
        let bytes = (word >> BYTES) as u32;
        let kind = match word >> SPACE & 0xf {
            0 => Self::Global { access, bytes },
            1 => Self::Shared { access, bytes },
            2 => Self::Branch,
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
    /// Adds what one counter of an access of some bytes has.
    pub(super) fn add(&mut self, counter: u64, count: u64, bytes: u32) {
        match counter {
            REQUESTS => {
                self.requests += count;
                self.sectors += count;
                self.lines += count;
                self.bytes += count * 32 * u64::from(bytes);
            }
            MORE_SECTORS => self.sectors += count,
            MORE_LINES => self.lines += count,
            _ => self.bytes = self.bytes.wrapping_sub(count * u64::from(bytes)),
        }
    }
}

impl SharedCounts {
    /// Adds what one counter has.
    pub(super) fn add(&mut self, counter: u64, count: u64) {
        match counter {
            REQUESTS => {
                self.requests += count;
                self.passes += count;
                self.most_ways = self.most_ways.max(1);
            }
            MORE_PASSES => self.passes += count,
            _ => self.most_ways = self.most_ways.max(count + 1),
        }
    }
}

impl BranchCounts {
    /// Adds what one counter has.
    pub(super) fn add(&mut self, counter: u64, count: u64) {
        match counter {
            REQUESTS => self.executed += count,
            DIVERGENT => self.divergent += count,
            _ => self.idle_lanes += count,
        }
    }
}
