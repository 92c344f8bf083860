//! What lanes of a warp do together, by number.

/// What the members of a collective do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Collective {
    Barrier,
    ActiveMask,
    Elect,
    ShuffleUp,
    ShuffleDown,
    ShuffleXor,
    ShuffleIndex,
    VoteAll,
    VoteAny,
    VoteUniform,
    VoteBallot,
    MatchAny,
    MatchAll,
    ReduceAdd,
    ReduceAnd,
    ReduceOr,
    ReduceXor,
    ReduceMin,
    ReduceMinSigned,
    ReduceMax,
    ReduceMaxSigned,
    ReduceFloatMin,
    ReduceFloatMinAbs,
    ReduceFloatMinNan,
    ReduceFloatMinAbsNan,
    ReduceFloatMax,
    ReduceFloatMaxAbs,
    ReduceFloatMaxNan,
    ReduceFloatMaxAbsNan,
    /// Each member learns where the operands of all are: it brings their address, and that of room for those of all.
    Operands,
}

impl Collective {
    const ALL: [Self; 30] = [
        Self::Barrier,
        Self::ActiveMask,
        Self::Elect,
        Self::ShuffleUp,
        Self::ShuffleDown,
        Self::ShuffleXor,
        Self::ShuffleIndex,
        Self::VoteAll,
        Self::VoteAny,
        Self::VoteUniform,
        Self::VoteBallot,
        Self::MatchAny,
        Self::MatchAll,
        Self::ReduceAdd,
        Self::ReduceAnd,
        Self::ReduceOr,
        Self::ReduceXor,
        Self::ReduceMin,
        Self::ReduceMinSigned,
        Self::ReduceMax,
        Self::ReduceMaxSigned,
        Self::ReduceFloatMin,
        Self::ReduceFloatMinAbs,
        Self::ReduceFloatMinNan,
        Self::ReduceFloatMinAbsNan,
        Self::ReduceFloatMax,
        Self::ReduceFloatMaxAbs,
        Self::ReduceFloatMaxNan,
        Self::ReduceFloatMaxAbsNan,
        Self::Operands,
    ];

    /// The collective that compiled code names by its number.
    pub(crate) fn of(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}
