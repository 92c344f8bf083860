//! Who runs next.

/// Who runs next where several warps, or threads at width 1, can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// Who has waited longest. The last one that comes to a barrier goes on first, which takes no switch of stacks.
    InOrder,
    /// As in order; but threads that a barrier or a collective lets go on do so by their numbers. So between two barriers of the
    /// block one warp follows another, and in a warp, between two collectives, one lane another.
    ByThread,
    /// Anybody, as the seed says.
    Random,
    /// Who has the highest priority. Priorities come from the seed and change at two moments that it chooses
    /// (probabilistic concurrency testing).
    Pct,
}

impl Schedule {
    /// Whether it does not depend on a seed.
    pub(crate) fn is_in_order(self) -> bool {
        matches!(self, Self::InOrder | Self::ByThread)
    }
}
