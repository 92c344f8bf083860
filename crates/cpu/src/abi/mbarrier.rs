//! Operations on barrier objects, by number.

/// Where the arrivals are that a phase still waits for.
pub(crate) const PENDING_BITS: u32 = 20;

/// What is done with a barrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum MbarrierOp {
    Init,
    Invalidate,
    ExpectBytes,
    CompleteBytes,
    Arrive,
    ArriveAndDrop,
    /// One arrival that makes the phase wait for bytes.
    ArriveExpecting,
    ArriveExpectingAndDrop,
    /// May not be the last.
    ArriveEarly,
    ArriveEarlyAndDrop,
    /// An arrival when the copies of the thread have ended, which they have. Adds to the arrivals that are waited for.
    ArriveAfterCopies,
    /// The same, counted among those that are expected.
    ArriveAfterCopiesCounted,
    /// Whether the phase of a state has ended.
    TestState,
    /// Whether the phase of a parity has ended.
    TestParity,
}

impl MbarrierOp {
    const ALL: [Self; 14] = [
        Self::Init,
        Self::Invalidate,
        Self::ExpectBytes,
        Self::CompleteBytes,
        Self::Arrive,
        Self::ArriveAndDrop,
        Self::ArriveExpecting,
        Self::ArriveExpectingAndDrop,
        Self::ArriveEarly,
        Self::ArriveEarlyAndDrop,
        Self::ArriveAfterCopies,
        Self::ArriveAfterCopiesCounted,
        Self::TestState,
        Self::TestParity,
    ];

    /// The operation that compiled code names by its number.
    pub(crate) fn of(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}
