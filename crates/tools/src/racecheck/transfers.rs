//! Copies and fills that streams do: accesses to ranges of memory, by nobody's threads.
//!
//! They are looked at only where streams leave work unordered. A copy has epochs as a launch has, looks for records of
//! unordered work in its ranges, and leaves its own there, which kernels find. What comes later finds what came before, whatever
//! of both it is.

use report::{AccessOf, AccessedObject, Finding, Note, Severity};
use toolkit::{HostStack, Plane, WorkId, WorkOrder};

use super::record::{EPOCH, MANY, MANY_BLOCKS, SITES};

/// A copy or fill, or a row of one.
#[derive(Clone, Debug)]
pub(super) struct Transfer {
    /// `copy` or `fill`.
    pub(super) what: &'static str,
    /// Memory of the device that it reads: first address and end.
    pub(super) reads: Option<[u64; 2]>,
    /// And that it writes.
    pub(super) writes: Option<[u64; 2]>,
    pub(super) stack: HostStack,
}

/// The records of granules of one size.
pub(super) struct Records<'a> {
    pub(super) plane: &'a dyn Plane,
    /// How many bytes a granule has, as a power of two.
    pub(super) granule: u32,
    /// Where memory begins, and how many bytes it has.
    pub(super) arena: (u64, u64),
}

/// What was recorded of unordered work: an address, the record, and whether it is of a read.
pub(super) struct Met {
    pub(super) address: u64,
    pub(super) record: u64,
    pub(super) is_read: bool,
}

impl Records<'_> {
    /// The numbers of the words of a range: of its writes, and how far from these those of its reads are.
    fn words(&self, [start, end]: [u64; 2]) -> (u64, u64, u64) {
        let (arena, bytes) = self.arena;
        let first = (start - arena) >> self.granule;
        let last = (end - 1 - arena) >> self.granule;
        (first, last - first + 1, bytes >> self.granule)
    }

    /// The first record in the ranges of a transfer that it conflicts with, among those for which something holds.
    pub(super) fn meet(&self, transfer: &Transfer, is_unordered: &dyn Fn(u64) -> bool) -> Option<Met> {
        let accesses = [(transfer.reads, false), (transfer.writes, false), (transfer.writes, true)];
        accesses.into_iter().find_map(|(range, is_read)| {
            let (first, count, reads) = self.words(range?);
            let half = if is_read { reads } else { 0 };
            let (number, record) = self.plane.find_word(first + half, count, is_unordered)?;
            Some(Met { address: self.arena.0 + ((number - half) << self.granule), record, is_read })
        })
    }

    /// Leaves the record of a transfer in its ranges, where nothing later is.
    pub(super) fn leave(&self, transfer: &Transfer, epoch: u64) {
        let record = epoch << EPOCH | MANY_BLOCKS << MANY | u64::from(SITES);
        for (range, is_read) in [(transfer.reads, true), (transfer.writes, false)] {
            let Some(range) = range else { continue };
            let (first, count, reads) = self.words(range);
            self.plane.raise_words(first + if is_read { reads } else { 0 }, count, record);
        }
    }
}

impl Transfer {
    /// Whether both access the same bytes, and one of them writes: which bytes.
    pub(super) fn meets(&self, other: &Self) -> Option<u64> {
        let pairs = [(self.writes, other.writes), (self.writes, other.reads), (self.reads, other.writes)];
        pairs.into_iter().find_map(|(mine, theirs)| {
            let ([start, end], [their_start, their_end]) = (mine?, theirs?);
            (start < their_end && their_start < end).then(|| start.max(their_start))
        })
    }

    /// As one of two accesses.
    fn access(&self) -> AccessOf {
        AccessOf {
            what: self.what.to_owned(),
            by: "a stream".to_owned(),
            place: None,
            kernel: String::new(),
            launch: 0,
            block: None,
            thread: None,
            barriers: None,
        }
    }

    /// It races with something that came before it.
    pub(super) fn finding(&self, other: AccessOf, launched: Note, object: Option<(Note, AccessedObject)>) -> Finding {
        let (place, object) = object.unzip();
        let mut notes = vec![Note { message: UNORDERED.0.to_owned(), stack: None }, launched];
        notes.extend(place);
        let message = format!("{} of global memory races with {}", self.what, report::with_article(&other.what));
        Finding {
            notes,
            accesses: vec![other, self.access()],
            object,
            help: Some(UNORDERED.1.to_owned()),
            stack: Some(self.stack.frames()),
            ..Finding::new("racecheck", "data-race", Severity::Error, message)
        }
    }
}

/// What is missing, and what to do.
pub(super) const UNORDERED: (&str, &str) = (
    "they are in streams that nothing orders",
    "do both in one stream, have one stream wait for an event of the other, or synchronise between them",
);

/// Whether some work is unordered with other work.
pub(super) fn is_unordered(order: &WorkOrder, other: WorkId) -> bool {
    other != order.id && !order.before.contains(other)
}
