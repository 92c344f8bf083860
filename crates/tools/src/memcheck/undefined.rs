//! Uses of undefined values, as they are reported.

use report::{Finding, Note, Severity};
use rewrite::SiteId;
use rewrite::context::Record;
use toolkit::Evidence;
use toolkit::objects::Described;

use super::defined::origin;
use super::findings::described;
use super::{SPACE, UNDEFINED, UNDEFINED_ADDRESS, UNDEFINED_MASK};

/// Whether a record is of the use of an undefined value.
pub(super) fn is_use(record: &Record) -> bool {
    record.what & (0xf << SPACE) == UNDEFINED
}

/// Where a thread loaded something undefined.
pub(super) struct Loaded {
    pub(super) address: u64,
    pub(super) site: Option<SiteId>,
    pub(super) object: Option<Described>,
    pub(super) is_shared: bool,
    /// How it came to be undefined, if that is known: else nobody has written it.
    pub(super) history: Vec<Note>,
}

/// What is reported of one: where it is used, where the thread loaded it, and what it loaded it from.
pub(super) fn finding(record: &Record, evidence: &Evidence<'_>, loaded: Loaded) -> Finding {
    let Loaded { address, site, object, is_shared, history } = loaded;
    let (code, message, help) = match record.what {
        UNDEFINED_ADDRESS => (
            "undefined-address",
            "the address of an access depends on an undefined value",
            "write the index or pointer before it is used",
        ),
        UNDEFINED_MASK => (
            "undefined-mask",
            "which threads take part depends on an undefined value",
            "compute the mask or the number of threads from values that were written before",
        ),
        _ => (
            "undefined-branch",
            "what a thread does depends on an undefined value",
            "write the value before it is compared, or do not compare it",
        ),
    };
    let mut notes = Vec::new();
    let place = site.and_then(|site| evidence.place_of(site));
    let line = place.as_ref().and_then(|place| place.lines.first());
    let at = line.map_or_else(String::new, |line| {
        let file = line.file.rsplit('/').next().unwrap_or_default();
        format!(" in line {} of {file}", line.line)
    });
    match object {
        Some(object) => notes.push(Note {
            message: format!(
                "the thread loaded it{at}, from offset {} in {}{}",
                address - object.start,
                described(&object),
                if history.is_empty() { ", which nobody has written" } else { "" }
            ),
            stack: object.stack,
        }),
        None if address != 0 => {
            let memory = match () {
                () if address == origin::LOCAL => "local memory",
                () if is_shared => "shared memory",
                () => "memory",
            };
            notes.push(Note {
                message: format!("the thread loaded it{at}, from {memory} that nobody has written"),
                stack: None,
            });
        }
        None => {}
    }
    notes.extend(history);
    Finding {
        place: Some(evidence.place.clone()),
        first: Some(evidence.occurrence.clone()),
        count: evidence.count,
        notes,
        help: Some(help.to_owned()),
        stack: Some(evidence.launched.clone()),
        ..Finding::new("memcheck", code, Severity::Error, message)
    }
}
