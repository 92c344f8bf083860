//! Launches that race only if a write meets a read of which it is known before that it takes place
//! ([`ptx::analysis::footprint::Condition`]): only these writes are looked at, and nothing is recorded of other accesses.
//!
//! What is read so is marked in a table of bits. A write to a place that has a mark calls a helper, and the host finds out who
//! the reader is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ptx::analysis::footprint::{Accessed, Condition, Footprint, Reader};
use ptx::ir::{FuncId, Guard, Module, Operand, StmtId};
use ptx::types::{Space, Type};
use ptx::view::{AccessBytes, AccessKind, AccessSpace, View};
use rewrite::context::{Record, Word};
use rewrite::{Access, Cursor};
use rustc_hash::FxHashMap;
use toolkit::{Host, LaunchView, SharedWords, Words};

use super::record::VOLATILE;
use super::strength::kind;
use super::{ON_CONDITION, WRITES};

/// Where the places begin that may have marks.
pub(super) const MARKED: Word = Word("MARKED");
/// How many bytes these are.
pub(super) const MARKED_BYTES: Word = Word("MARKED_BYTES");
/// How many bytes a mark is for, as a power of two.
pub(super) const MARKED_UNIT: Word = Word("MARKED_UNIT");
/// The address of the marks.
pub(super) const MARKS: Word = Word("MARKS");

/// Words of marks that are worth it for any launch, and threads for each further one.
const LEAST_WORDS: u64 = 1024;
const THREADS_OF_WORD: u64 = 16;
/// But no more than these: marks are for less than 2^32 bytes.
const MOST_WORDS: u64 = 1 << 20;
/// Words of marks that are kept for later launches.
const MOST_KEPT: usize = 1 << 21;

/// Whether accesses of a function are of the kinds that a condition is about.
pub(super) fn is_possible(module: &Module, func: FuncId) -> bool {
    let Some(body) = &module.functions[func].body else { return false };
    let mut views = body.iter().filter_map(|id| View::of(&module.forms, body, id));
    views.all(|view| view.callee().is_none() && view.accesses().iter().all(|access| kind(access) != VOLATILE))
}

/// An access is about to take place, in a launch that races on a condition only.
/// `is_unread` says that nobody reads what it writes.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access, is_unread: bool) {
    let spaces = [AccessSpace::State(Space::Global), AccessSpace::Generic];
    if !spaces.contains(&access.access.space) {
        return;
    }
    // Also of reads: they may be what a write meets. One for errors, and the next for warnings.
    let (guard, site) = (at.guard(), at.site(access));
    at.site(access);
    let AccessBytes::Fixed(bytes) = access.access.bytes else { return };
    if access.access.kind != AccessKind::Write || kind(&access.access) != 0 || is_unread {
        return;
    }
    let address = at.generic_address(access);
    let [start, end, unit, marks] = [MARKED, MARKED_BYTES, MARKED_UNIT, MARKS].map(|word| at.word(word));
    let unit = at.at_entry("cvt.u32.u64", Type::B32, &[unit.into()]);
    let [offset, place] = [(); 2].map(|()| at.reg(Type::B64));
    let [bit, word, marked] = [(); 3].map(|()| at.reg(Type::B32));
    let [within, is_marked] = [(); 2].map(|()| at.reg(Type::Pred));
    at.before().inst("sub.u64", &[offset.into(), address.into(), start.into()]);
    at.before().inst("setp.lt.u64", &[within.into(), offset.into(), end.into()]);
    if guard.is_some() {
        at.and_guard(within, within, guard);
    }
    // There are marks for less than 2^32 bytes.
    at.before().inst("cvt.u32.u64", &[bit.into(), offset.into()]);
    at.before().inst("shr.u32", &[bit.into(), bit.into(), unit.into()]);
    at.before().inst("shr.u32", &[word.into(), bit.into(), 5.into()]);
    at.before().inst("mad.wide.u32", &[place.into(), word.into(), 4.into(), marks.into()]);
    at.before().guarded(Guard::when(within), "ld.global.b32", &[marked.into(), Operand::RegAddress(place, 0)]);
    at.before().inst("and.b32", &[bit.into(), bit.into(), 31.into()]);
    at.before().inst("shr.u32", &[marked.into(), marked.into(), bit.into()]);
    at.before().inst("and.b32", &[marked.into(), marked.into(), 1.into()]);
    at.before().inst("setp.ne.and.b32", &[is_marked.into(), marked.into(), 0.into(), within.into()]);
    let what = Operand::Int((bytes | WRITES | ON_CONDITION).into());
    at.call(
        Some(Guard::when(is_marked)),
        "warpgrind_race_met",
        &[],
        &[address.into(), Operand::Int(site.0.into()), what],
    );
}

/// The condition of a launch, and its marks.
#[derive(Debug)]
pub(super) struct Conditional {
    footprint: Arc<Footprint>,
    /// Where the object is.
    object: u64,
    /// Where in it the marks begin.
    first: u64,
    marks: Arc<dyn SharedWords>,
}

impl Conditional {
    /// Of a launch; nothing if it has no condition, or too many marks.
    fn of(launch: &LaunchView<'_>, footprint: &Arc<Footprint>, object: u64, host: &dyn Host) -> Option<Self> {
        let condition = footprint.condition.as_ref()?;
        let extents = [launch.shape.grid, launch.shape.block];
        let threads: u64 = extents.as_flattened().iter().map(|&count| u64::from(count)).product();
        let most = (LEAST_WORDS + threads / THREADS_OF_WORD).min(MOST_WORDS);
        let (first, bits) = condition.marks(most as usize)?;
        let marks = host.words(bits.len()).ok()?;
        marks.words().iter().zip(&bits).for_each(|(word, &bits)| word.store(bits, Ordering::Relaxed));
        Some(Self { footprint: Arc::clone(footprint), object, first, marks })
    }

    fn condition(&self) -> &Condition {
        self.footprint.condition.as_ref().expect("it was there when this was made")
    }

    /// Tells the kernel where the marks are.
    pub(super) fn set(&self, words: &mut Words<'_>) {
        let unit = u64::from(self.condition().bytes);
        words.set(MARKED, self.object + self.first);
        words.set(MARKED_BYTES, self.marks.words().len() as u64 * 64 * unit);
        words.set(MARKED_UNIT, unit.trailing_zeros().into());
        words.set(MARKS, self.marks.address());
    }

    /// Whom a write meets.
    pub(super) fn reader(&self, record: &Record) -> Reader {
        match record.address.checked_sub(self.object) {
            Some(offset) => self.condition().reader(offset, record.block, record.thread),
            None => Reader::Nobody,
        }
    }

    /// The instruction of one of the reads.
    pub(super) fn statement(&self, read: usize) -> Option<StmtId> {
        self.condition().reads.get(read)?.site.statement
    }
}

/// The conditions of launches so far: those with the same answer and the same object have the same.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    known: FxHashMap<(usize, u64), Arc<Conditional>>,
    /// The words of their marks.
    words: usize,
}

impl Conditions {
    /// That of a launch, of which it is known what it touches, and where the objects are.
    pub(super) fn of(
        &mut self,
        launch: &LaunchView<'_>,
        footprint: &Arc<Footprint>,
        objects: &[[u64; 2]],
        host: &dyn Host,
    ) -> Option<Arc<Conditional>> {
        let Accessed::Object(number) = footprint.condition.as_ref()?.object else { return None };
        let [object, _] = *objects.get(number)?;
        // What has the answer keeps it, so no other one has its address.
        let key = (Arc::as_ptr(footprint) as usize, object);
        if let Some(known) = self.known.get(&key) {
            return Some(Arc::clone(known));
        }
        let conditional = Arc::new(Conditional::of(launch, footprint, object, host)?);
        self.words += conditional.marks.words().len();
        if self.words > MOST_KEPT {
            self.known.clear();
            self.words = conditional.marks.words().len();
        }
        self.known.insert(key, Arc::clone(&conditional));
        Some(conditional)
    }
}
