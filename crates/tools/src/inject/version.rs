//! The versions of a kernel: each is compiled once, and serves any number of trials.

/// The number of a version.
pub(super) type Version = usize;

/// The kernel as it is.
pub(super) const PLAIN: Version = 0;
/// Threads count at how many places faults could strike.
pub(super) const PROFILE: Version = 1;
/// Registers after they were written.
pub(super) const RESULTS: Version = 2;
/// Predicates after they were written.
pub(super) const PREDICATES: Version = 3;
/// Addresses and stored values, for one access.
pub(super) const OPERANDS: Version = 4;
/// Instructions that may be left out.
pub(super) const SKIP: Version = 5;
/// Registers before they are read.
pub(super) const REGISTERS: Version = 6;
/// All results of a lane, without calls.
pub(super) const LANES: Version = 7;
/// Registers after instructions wrote them that another tool inserted.
pub(super) const INSERTED: Version = 8;

/// Their names, by their numbers.
pub(super) const NAMES: [&str; 9] =
    ["", "profile", "results", "predicates", "operands", "skip", "registers", "lanes", "inserted"];
