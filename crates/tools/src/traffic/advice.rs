//! Advice about what costs more than it has to, where it is certain: all costly requests have the same step from lane to lane.

use report::{Explanation, Finding, Note, Place, Severity};

use super::SECTOR_BITS;
use super::counters::{AccessOfSite, GlobalCounts, SharedCounts};

/// What advice means.
pub(super) const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        tool: Some("traffic"),
        code: UNCOALESCED,
        title: "lanes of a warp that access memory far from each other",
        text: include_str!("explain/uncoalesced.md"),
    },
    Explanation {
        tool: Some("traffic"),
        code: BANK_CONFLICT,
        title: "lanes of a warp that access different words of one bank",
        text: include_str!("explain/bank-conflict.md"),
    },
    Explanation {
        tool: Some("traffic"),
        code: READ_ONCE,
        title: "a shared array whose words are read once",
        text: include_str!("explain/read-once.md"),
    },
];

const UNCOALESCED: &str = "uncoalesced";
const BANK_CONFLICT: &str = "bank-conflict";
const READ_ONCE: &str = "read-once";

/// An access to global memory whose costly requests have one step, in bytes. Nothing if at least half of what is moved is used,
/// or if each request moves a single sector, which it cannot do with less.
pub(super) fn uncoalesced(place: &Place, counts: &GlobalCounts, step: i64) -> Option<Finding> {
    let moved = counts.sectors << SECTOR_BITS;
    if counts.sectors <= counts.requests || moved < 2 * counts.bytes {
        return None;
    }
    let message = format!(
        "stride of {} between lanes: {} sectors per request, where {} would do",
        distance(step),
        per_request(counts.sectors, counts.requests),
        per_request(counts.bytes.div_ceil(1 << SECTOR_BITS), counts.requests),
    );
    let used = format!("{} of {moved} bytes that are moved are used: {} %", counts.bytes, counts.bytes * 100 / moved);
    let help = "let neighbouring threads access neighbouring elements: exchange the loops or the indices, make a structure \
                of arrays of an array of structures, or go through shared memory";
    Some(Finding {
        place: Some(place.clone()),
        count: counts.requests,
        notes: vec![Note { message: used, stack: None }],
        help: Some(help.to_owned()),
        ..Finding::new("traffic", UNCOALESCED, Severity::Warning, message)
    })
}

/// An access to shared memory whose costly requests have one step, in units of what a lane accesses (four bytes at least).
pub(super) fn bank_conflict(
    place: &Place,
    counts: &SharedCounts,
    access: &AccessOfSite,
    step: i64,
    variable: Option<&str>,
) -> Option<Finding> {
    let (unit, banks, ways) = (i64::from(access.unit()), access.banks(), access.ways(step));
    if ways == 1 || ways != counts.most_ways || counts.requests == 0 {
        return None;
    }
    let on = variable.map_or_else(String::new, |name| format!(" on `{name}`"));
    let stride = distance(step * unit);
    let message = format!("{ways}-way bank conflict{on}: stride of {stride} between lanes");
    let turns = if unit == 4 { "" } else { " in each turn of the lanes" };
    let divisor = format!(
        "{step} and the number of banks of {unit} bytes ({banks}) are multiples of {ways}, so {ways} lanes access each \
         bank{turns}: {} passes for {} requests",
        counts.passes, counts.requests
    );
    let row = variable.map_or_else(|| "the row".to_owned(), |name| format!("the row of `{name}`"));
    let padded = distance((step + step.signum()) * unit);
    Some(Finding {
        place: Some(place.clone()),
        count: counts.requests,
        notes: vec![Note { message: divisor, stack: None }],
        help: Some(format!("pad {row} so that the stride is {padded}, which has no divisor in common with the banks")),
        ..Finding::new("traffic", BANK_CONFLICT, Severity::Warning, message)
    })
}

/// What was done with a shared array that holds copies of global memory, in blocks that were traced.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOnce {
    pub(super) blocks: u64,
    /// In words.
    pub(super) stored: u64,
    pub(super) read: u64,
    /// How often a word was read at most.
    pub(super) most_reads: u64,
    /// Sectors of the loads that fill it, and of those that would take its place.
    pub(super) sectors_to_fill: u64,
    pub(super) sectors_without: u64,
}

/// A shared array that saves nothing: no word of it is read twice, and loads in its place would access no more sectors.
pub(super) fn read_once(place: Option<&Place>, name: &str, array: &ReadOnce) -> Option<Finding> {
    if array.read == 0 || array.most_reads > 1 || array.sectors_without > array.sectors_to_fill {
        return None;
    }
    let message = format!("`{name}` is read once: shared memory gives nothing");
    let words = format!(
        "{} that {} traced: {} words are copied into it from global memory and {} are read, none of them twice",
        if array.blocks == 1 { "1 block".to_owned() } else { format!("{} blocks", array.blocks) },
        if array.blocks == 1 { "was" } else { "were" },
        array.stored,
        array.read,
    );
    let sectors = format!(
        "loads in its place access {} sectors, those that fill it access {}",
        array.sectors_without, array.sectors_to_fill
    );
    let help = "let each thread load what it needs; the array, and the barrier if it is there for it, can go";
    Some(Finding {
        place: place.cloned(),
        notes: [words, sectors].map(|message| Note { message, stack: None }).into(),
        help: Some(help.to_owned()),
        ..Finding::new("traffic", READ_ONCE, Severity::Warning, message)
    })
}

/// A distance, in words where it can be.
fn distance(bytes: i64) -> String {
    match bytes {
        4 | -4 => format!("{} word", bytes / 4),
        _ if bytes % 4 == 0 => format!("{} words", bytes / 4),
        _ => format!("{bytes} bytes"),
    }
}

/// A mean, with a tenth where it is not whole.
fn per_request(count: u64, requests: u64) -> String {
    let tenths = (count * 10 + requests / 2) / requests;
    if tenths.is_multiple_of(10) { (tenths / 10).to_string() } else { format!("{}.{}", tenths / 10, tenths % 10) }
}
