//! What racecheck makes of what was recorded.

use report::{AccessOf, AccessedObject, Explanation, Finding, Note, Place, Severity, dim, thread_name, with_article};
use rewrite::context::Record;
use toolkit::objects::{AtAddress, Described};
use toolkit::{Evidence, HostStack};

use super::record::{KINDS, STRONG_BLOCK, VOLATILE, Who};
use super::transfers::{Transfer, UNORDERED};
use super::{ACCESS_KIND, BULK, BYTES, LEFT_OUT, OTHER_READS, READS_TOO, SAME, TOGETHER, UNFENCED, UPDATES, WRITES};

/// Two accesses that race.
pub(super) struct Race<'a> {
    pub(super) record: &'a Record,
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) other: Racer,
    pub(super) object: Option<AtAddress>,
    pub(super) is_shared: bool,
}

/// The access that came first.
pub(super) struct Racer {
    /// Nothing if it is not known any more.
    pub(super) place: Option<Place>,
    pub(super) kernel: String,
    pub(super) launch: u64,
    pub(super) block: Option<[u32; 3]>,
    pub(super) thread: Option<[u32; 3]>,
    pub(super) who: Who,
    /// At how many barriers of its block it had been; nothing if there were several blocks.
    pub(super) barriers: Option<u64>,
    pub(super) kind: u32,
    /// The copy or fill, if it is one.
    pub(super) transfer: Option<Transfer>,
}

impl Racer {
    /// As one of two accesses: what it does is said in a word.
    fn access(&self, what: &str) -> AccessOf {
        AccessOf {
            what: what.to_owned(),
            by: self.threads(),
            place: self.place.clone(),
            kernel: self.kernel.clone(),
            launch: self.launch,
            block: self.block,
            thread: self.thread,
            barriers: self.barriers,
        }
    }

    /// The same of what races with a copy or fill, and where the program asked for it.
    pub(super) fn as_access(&self, is_read: bool, stack: &HostStack) -> (AccessOf, Note) {
        if let Some(transfer) = &self.transfer {
            return (self.access(transfer.what), self.asked_for(transfer));
        }
        let launched = Note { message: "the kernel was launched here".to_owned(), stack: Some(stack.frames()) };
        (self.access(if is_read { "read" } else { "write" }), launched)
    }

    fn asked_for(&self, transfer: &Transfer) -> Note {
        Note { message: format!("the {} was asked for here", transfer.what), stack: Some(transfer.stack.frames()) }
    }

    /// Who made the access, in words.
    fn threads(&self) -> String {
        let Self { block, thread, who, transfer, .. } = self;
        match (who, block, thread) {
            _ if transfer.is_some() => "a stream".to_owned(),
            (_, Some(block), Some(thread)) => thread_name(*block, *thread),
            (Who::Lanes { warp }, Some(block), _) => {
                format!("several threads of warp {warp} of block {}", dim(*block))
            }
            (Who::BulkCopy, Some(block), _) => format!("a copy of block {}", dim(*block)),
            (_, Some(block), None) => format!("several threads of block {}", dim(*block)),
            _ => "threads of several blocks".to_owned(),
        }
    }
}

impl Race<'_> {
    pub(super) fn finding(self) -> Finding {
        let Self { record, evidence, ref other, .. } = self;
        let what = record.what;
        let bytes = what & BYTES;
        let size = match bytes {
            // A piece of what it copies.
            _ if what & BULK != 0 => String::new(),
            1 => "1 byte of ".to_owned(),
            _ => format!("{bytes} bytes of "),
        };
        let first = &evidence.occurrence;
        let mine = match what {
            _ if what & (BULK | WRITES) == BULK | WRITES => ASYNCHRONOUS_WRITE,
            _ if what & BULK != 0 => ASYNCHRONOUS_READ,
            _ if what & UPDATES != 0 => "atomic operation",
            _ if what & WRITES != 0 => "write",
            _ => "read",
        };
        let theirs = match (&other.transfer, what & OTHER_READS != 0, other.kind) {
            (Some(transfer), ..) => transfer.what,
            (None, true, _) if other.who == Who::BulkCopy => ASYNCHRONOUS_READ,
            (None, false, _) if other.who == Who::BulkCopy => ASYNCHRONOUS_WRITE,
            (None, true, _) => "read",
            (None, false, ..STRONG_BLOCK) => "write",
            (None, false, _) => "atomic operation",
        };
        let kinds = [what >> ACCESS_KIND & KINDS, other.kind];
        // What PTX allows, and CUDA C++ does not.
        let is_volatile = kinds.contains(&VOLATILE) && !kinds.contains(&0);
        let is_unfenced = what >> UNFENCED & 3 == 2;
        let is_pending = what >> UNFENCED & 3 == 3;
        // Strong operations of too narrow a scope, in the order that their threads agreed on, but for a fence.
        let is_nearly_ordered = is_unfenced && kinds.iter().all(|&kind| kind >= STRONG_BLOCK);
        let same_launch = other.launch == first.launch;
        let same_block = same_launch && other.block == Some(first.block);
        let same_warp = same_block
            && match other.who {
                Who::Thread(thread) => thread / 32 == self.warp(),
                Who::Lanes { warp } => warp == self.warp(),
                Who::Warps | Who::Blocks | Who::BulkCopy => false,
            };
        // A copy that goes on is no access of its thread.
        let same_warp = same_warp && !is_pending;
        let together =
            what & TOGETHER != 0 || (same_warp && other.place.as_ref() == Some(&evidence.place) && what & WRITES != 0);
        let (code, severity) = if what & SAME != 0 {
            ("same-value-race", Severity::Warning)
        } else if same_warp && !together {
            ("warp-synchrony", Severity::Warning)
        } else if is_volatile || is_nearly_ordered {
            ("data-race", Severity::Warning)
        } else {
            ("data-race", Severity::Error)
        };
        let space = if self.is_shared { "shared memory" } else { "global memory" };
        let message = match code {
            "same-value-race" => format!("two threads write the same value to {size}{space}, unordered"),
            "warp-synchrony" => {
                format!("{mine} of {size}{space} that only lockstep orders with {}", with_article(theirs))
            }
            _ if together => format!("lanes of one store write different values to {size}{space}"),
            _ => format!("{mine} of {size}{space} races with {}", with_article(theirs)),
        };
        let (missing, help) = if is_unfenced {
            UNFENCED_ACQUIRE
        } else if is_pending && other.who == Who::BulkCopy {
            PENDING_BULK_COPY
        } else if is_pending {
            PENDING_COPY
        } else {
            self.missing_order(same_launch, same_block, same_warp, together)
        };
        let between = match () {
            () if other.who == Who::BulkCopy => "with an asynchronous copy",
            () if is_pending && other.thread == Some(first.thread) => "with a copy of the same thread",
            () if is_pending => "with a copy of another thread",
            () if same_warp => "within a warp",
            () if same_block => "between warps",
            () if same_launch => "between blocks",
            () if other.transfer.is_some() => "between a kernel and a stream",
            () => "between kernels",
        };
        let mut notes = vec![note(missing.to_owned()), note(format!("{} {between}", self.pattern(mine, theirs)))];
        notes.extend(other.transfer.as_ref().map(|transfer| other.asked_for(transfer)));
        if is_volatile {
            notes.push(note("volatile accesses are no race for PTX, and one for CUDA C++".to_owned()));
        }
        notes.extend(self.place_of_object());
        let accesses = vec![
            other.access(theirs),
            // If there were more barriers, they would order the two.
            AccessOf { barriers: other.barriers.filter(|_| same_block), ..evidence.access(mine) },
        ];
        Finding {
            place: Some(evidence.place.clone()),
            first: Some(evidence.occurrence.clone()),
            count: evidence.count,
            notes,
            accesses,
            object: self.accessed_object(bytes.into()),
            help: Some(help.to_owned()),
            stack: Some(evidence.launched.clone()),
            ..Finding::new("racecheck", code, severity, message)
        }
    }

    /// What the two threads do with the place, first the one that came first: `W|R`. Who reads a place, computes and writes
    /// it, does `RW`; if the other one comes by the same line, so does it.
    fn pattern(&self, mine: &str, theirs: &str) -> String {
        let letter = |what: &str| if ["read", ASYNCHRONOUS_READ].contains(&what) { "R" } else { "W" };
        if self.other.transfer.is_some() {
            let theirs = if self.record.what & OTHER_READS != 0 { "R" } else { "W" };
            return format!("{theirs}|{}", letter(mine));
        }
        let updates = self.record.what & (READS_TOO | UPDATES) != 0;
        let is_same_line = |place: &Place| place.lines == self.evidence.place.lines && !place.lines.is_empty();
        let both_update = updates && self.other.place.as_ref().is_some_and(is_same_line);
        let theirs = if both_update || theirs == "atomic operation" { "RW" } else { letter(theirs) };
        format!("{theirs}|{}", if updates { "RW" } else { letter(mine) })
    }

    /// The warp of this access.
    fn warp(&self) -> u32 {
        let [x, y, z] = self.evidence.occurrence.thread;
        let [width, height, _] = self.evidence.shape.block;
        (x + width * (y + height * z)) / 32
    }

    /// What would have ordered the accesses, and what to do.
    fn missing_order(
        &self,
        same_launch: bool,
        same_block: bool,
        same_warp: bool,
        together: bool,
    ) -> (&'static str, &'static str) {
        let mine = self.record.what >> ACCESS_KIND & KINDS;
        let is_strong = |kind: u32| kind >= STRONG_BLOCK;
        if self.other.transfer.is_some() {
            return UNORDERED;
        }
        if !same_launch {
            return (
                "the kernels run in streams that nothing orders",
                "launch both in one stream, or have one stream wait for an event of the other",
            );
        }
        if together {
            return (
                "several lanes of the warp write to one address by one instruction, and any of them may be last",
                "let one lane write, or use an atomic operation",
            );
        }
        if same_warp && self.record.what & LEFT_OUT != 0 {
            return (
                "the __syncwarp after the first access has a mask without the thread of the second",
                "give __syncwarp() a mask with both threads, and let both call it",
            );
        }
        if same_warp {
            return ("there is no __syncwarp between them", "put __syncwarp() between the two accesses");
        }
        if is_strong(mine) && is_strong(self.other.kind) {
            return (
                "the atomic has block scope, and the other thread is in another block",
                "use the scope of the device: atomicAdd instead of atomicAdd_block",
            );
        }
        if is_strong(mine) != is_strong(self.other.kind) {
            return (
                "one of them is atomic and the other is not, so they are not ordered",
                "make both atomic, or put a barrier between them",
            );
        }
        let is_update = self.record.what & READS_TOO != 0;
        if same_block {
            let help = if is_update { ATOMIC_UPDATE } else { "put __syncthreads() between the two accesses" };
            return ("there is no barrier between them", help);
        }
        if is_update {
            return ("the threads are in different blocks, which no barrier orders", ATOMIC_UPDATE);
        }
        (
            "the threads are in different blocks, which no barrier orders",
            "let each block write its own part, use atomic operations, or divide the work into two kernels",
        )
    }

    /// The allocation that both access. Of shared variables only the name is known.
    fn accessed_object(&self, bytes: u64) -> Option<AccessedObject> {
        match self.object.as_ref()? {
            AtAddress::Live(object) if !self.is_shared => Some(object.accessed(self.record.address, bytes)),
            _ => None,
        }
    }

    fn place_of_object(&self) -> Option<Note> {
        if self.is_shared {
            let variable = toolkit::site_variable(self.evidence, 0)?;
            return Some(note(format!("it is in {}", variable.name)));
        }
        let AtAddress::Live(object) = self.object.as_ref()? else { return None };
        Some(place_in(object, self.record.address))
    }
}

/// Where in an object an address is.
pub(super) fn place_in(object: &Described, address: u64) -> Note {
    let offset = address - object.start;
    let message = format!("it is at offset {offset} of {} of {} bytes", object.name, object.bytes);
    Note { message, stack: object.stack.clone() }
}

/// What to do where a thread reads, computes and writes: `x += 1`.
const ATOMIC_UPDATE: &str = "make the read and the write one atomic operation, such as atomicAdd";

/// What is missing, and what to do.
const UNFENCED_ACQUIRE: (&str, &str) = (
    "the thread has read what the other one released, and has no fence after that",
    "put __threadfence() between the read of the flag and this access, or read the flag with acquire",
);

const PENDING_COPY: (&str, &str) = (
    "the thread that began the asynchronous copy has not waited for it",
    "wait for the copy, with __pipeline_wait_prior() or cp.async.wait_group, before the barrier that orders the two",
);

const PENDING_BULK_COPY: (&str, &str) = (
    "nothing that the thread has waited for says that the asynchronous copy is done",
    "wait for the phase of the copy's mbarrier object; or wait in the thread that began it, with cp.async.bulk.wait_group, before \
     the barrier that orders the two",
);

/// What a copy of many bytes does with a place.
const ASYNCHRONOUS_READ: &str = "asynchronous read";
const ASYNCHRONOUS_WRITE: &str = "asynchronous write";

fn note(message: String) -> Note {
    Note { message, stack: None }
}

pub(super) const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        tool: Some("racecheck"),
        code: "data-race",
        title: "two threads access the same memory, one of them writes, and nothing orders them",
        text: include_str!("explain/data-race.md"),
    },
    Explanation {
        tool: Some("racecheck"),
        code: "same-value-race",
        title: "two threads write the same value, and nothing orders them",
        text: include_str!("explain/same-value-race.md"),
    },
    Explanation {
        tool: Some("racecheck"),
        code: "warp-synchrony",
        title: "threads of a warp rely on running in step",
        text: include_str!("explain/warp-synchrony.md"),
    },
];
