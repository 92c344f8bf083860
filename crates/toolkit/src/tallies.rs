//! What the workers of a launch count for themselves ([`rewrite::context::Tallies`]).

/// How many workers run a launch at most if a tool has tallies: so many rows these have.
pub fn tally_rows() -> u32 {
    /// More do not help.
    const MOST: u32 = 64;
    std::thread::available_parallelism().map_or(1, |count| (count.get() as u32).min(MOST))
}
