//! What is told of threads that conflict.

use ptx::ops::Effect;
use ptx::view::View;
use report::{AccessOf, Explanation, Finding, Note, Place, Severity, thread_name};
use rewrite::SiteId;
use rewrite::context::Record;
use toolkit::objects::AtAddress;
use toolkit::{Evidence, HostStack};

use super::turn::Recorded;
use super::{BYTES, OTHER_READS, READS, REDUCES, TOGETHER, TOOL, WRITES};

/// An access that came after a conflicting one of a later turn.
pub(super) struct Conflict<'a> {
    pub(super) record: &'a Record,
    pub(super) evidence: &'a Evidence<'a>,
    /// Who made the one of the later turn.
    pub(super) other: Recorded,
    pub(super) object: Option<AtAddress>,
    pub(super) is_shared: bool,
    pub(super) is_detected_only: bool,
    /// Whether the launch has reads of what later lanes of a warp have written, and is left as it ran.
    pub(super) relies_on_lockstep: bool,
}

impl Conflict<'_> {
    /// Nothing if both are atomic operations: that their order is another is no mistake of the program.
    pub(super) fn finding(&self) -> Option<Finding> {
        let Self { record, evidence, other, .. } = self;
        let what = record.what;
        let (mine, is_atomic) = match what {
            _ if what & REDUCES != 0 || what & (READS | WRITES) == READS | WRITES => ("atomic operation", true),
            _ if what & WRITES != 0 => ("write", false),
            _ => ("read", false),
        };
        let is_other_atomic = other.site.is_some_and(|site| self.is_atomic(SiteId(site)));
        if is_atomic && is_other_atomic {
            return None;
        }
        let theirs = match (is_other_atomic, what & OTHER_READS != 0) {
            (true, _) => "atomic operation",
            (false, true) => "read",
            (false, false) => "write",
        };
        let first = &evidence.occurrence;
        let bytes = what & BYTES;
        let size = if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
        let space = if self.is_shared { "shared memory" } else { "global memory" };
        let article = if theirs == "atomic operation" { "an" } else { "a" };
        let message = format!(
            "{mine} of {size} of {space} came after {article} {theirs} of a thread that is later in the serial order"
        );
        let relation = match (other.block == first.block, what & TOGETHER != 0) {
            (true, true) => "they are lanes of one warp",
            (true, false) => "they are threads of one block, with no barrier between",
            (false, _) => "they are in different blocks",
        };
        let is_lockstep = what & TOGETHER != 0 && mine == "read" && self.relies_on_lockstep;
        let code = if is_lockstep && !self.is_detected_only { "relies-on-warp-synchrony" } else { "conflict" };
        let (severity, done) = match (self.is_detected_only, self.relies_on_lockstep) {
            (true, _) => (Severity::Error, "this run is not as in the serial order"),
            (false, true) => (Severity::Warning, "the launch was left as it ran, in lockstep"),
            (false, false) => (Severity::Warning, "the launch ran again, one thread after another"),
        };
        let note = |message: String| Note { message, stack: None };
        let mut notes = vec![note(relation.to_owned()), note(done.to_owned())];
        notes.extend(self.place_of_object().map(note));
        let accesses = vec![
            AccessOf {
                what: theirs.to_owned(),
                by: thread_name(other.block, other.thread),
                place: other.site.and_then(|site| evidence.place_of(SiteId(site))),
                kernel: evidence.place.kernel.clone(),
                launch: first.launch,
                block: Some(other.block),
                thread: Some(other.thread),
                barriers: None,
            },
            evidence.access(mine),
        ];
        Some(Finding {
            place: Some(evidence.place.clone()),
            first: Some(evidence.occurrence.clone()),
            count: evidence.count,
            notes,
            accesses,
            help: Some("`warpgrind racecheck` finds all unordered accesses, and says what would order them".to_owned()),
            stack: Some(evidence.launched.clone()),
            ..Finding::new(TOOL, code, severity, message)
        })
    }

    /// Whether the instruction of a site is an atomic operation.
    fn is_atomic(&self, site: SiteId) -> bool {
        let Evidence { module, sites, .. } = self.evidence;
        let view = sites.get(site).and_then(|site| {
            let body = module.functions[site.func].body.as_ref()?;
            View::of(&module.forms, body, site.stmt)
        });
        view.is_some_and(|view| view.effect() == Some(Effect::Atomic))
    }

    fn place_of_object(&self) -> Option<String> {
        if self.is_shared {
            return toolkit::site_variable(self.evidence, 0).map(|variable| format!("it is in {}", variable.name));
        }
        let AtAddress::Live(object) = self.object.as_ref()? else { return None };
        let offset = self.record.address - object.start;
        Some(format!("it is at offset {offset} of {} of {} bytes", object.name, object.bytes))
    }
}

/// A kernel ran as it is, which the user allows.
pub(super) fn unrepaired(kernel: &str, reason: &str, stack: &HostStack) -> Finding {
    Finding {
        place: Some(Place::of_kernel(kernel)),
        notes: vec![Note { message: reason.to_owned(), stack: None }],
        stack: Some(stack.frames()),
        ..Finding::new(TOOL, "unrepaired", Severity::Warning, "a kernel ran without repair")
    }
}

pub(super) const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        tool: Some(TOOL),
        code: "conflict",
        title: "threads accessed memory in another order than one after another",
        text: include_str!("explain/conflict.md"),
    },
    Explanation {
        tool: Some(TOOL),
        code: "relies-on-warp-synchrony",
        title: "lanes of a warp that read what others have just written",
        text: include_str!("explain/relies-on-warp-synchrony.md"),
    },
    Explanation {
        tool: Some(TOOL),
        code: "unrepaired",
        title: "a kernel that ran as it is, because it cannot be repaired",
        text: include_str!("explain/unrepaired.md"),
    },
];
