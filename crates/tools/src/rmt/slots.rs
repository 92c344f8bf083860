//! Sizes of the memory through which twins tell each other something: slots, and logs of them.

/// Bytes of a slot of shared memory through which a thread tells its twin something.
pub(super) const SLOT: u32 = 16;
/// Words of a slot.
pub(super) const SLOT_WORDS: usize = SLOT as usize / 4;
/// Words of an entry of a log, but for the one that says which entry it is.
pub(super) const ENTRY_WORDS: usize = SLOT_WORDS - 1;
/// Entries of a thread's log in shared memory.
pub(super) const SHARED_ENTRIES: u32 = 4;
/// Entries of a thread's log in global memory.
pub(super) const GLOBAL_ENTRIES: u32 = 16;
/// Bytes before the counters in global memory: the next ticket.
pub(super) const TICKET: u32 = 64;
/// Bytes of counters that a thread has in shared memory: entries written, and entries read.
pub(super) const SHARED_COUNTERS: u32 = 8;
/// The same in global memory, where a thread also has the number of the pair of blocks whose turn it is.
pub(super) const GLOBAL_COUNTERS: u32 = 12;
