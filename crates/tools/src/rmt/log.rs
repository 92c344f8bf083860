//! The log between twins that are in different warps, or in different blocks.
//!
//! The first copy of a thread writes what it is about to do into a log, and goes on; the second compares it with what itself is
//! about to do, and does it. So only the second waits, unless the log is full. Each pair of threads has a log of its own: a ring
//! of entries with four words, and two counters, of entries that are written and of entries that are read. Twins in one block
//! have it in shared memory (`warp-pair`), those in two blocks in global memory (`inter`).
//!
//! Blocks learn which copy they are by a ticket that they draw when they begin. A pair of blocks has neighbouring tickets, and
//! a region of the log, which another pair had before. Whoever waits for a region, or for an entry, waits for blocks that have
//! begun earlier: no block waits for one that cannot begin. Only a first copy whose log is full, or that needs the result of
//! an atomic operation, waits for a later block, which has room if two blocks have.
//!
//! An entry has a word that says after which other entry of which block it was written. A second copy that took another branch so
//! never finds what it looks for in an entry that is left from before, or that comes later.
//!
//! An entry has a place in the ring. Instructions outside of loops have their own, so that all lanes of a warp have it at neighbouring
//! addresses, whatever branches some of them have taken; their position goes on to the next number that belongs to the place. In
//! loops, it is the next place after the last.
//!
//! A thread that ends says so in its last entry, and that nobody need wait for it any more. If its twin is elsewhere then, both
//! come to their ends all the same, and the region counts as broken: nobody waits for it.

use ptx::edit::Builder;
use ptx::ir::{FuncId, Guard, Operand, Reg, Symbol};
use ptx::special::Special;
use ptx::types::Type;
use rewrite::Cursor;

use super::kept::Kept;
use super::slots::{ENTRY_WORDS, GLOBAL_COUNTERS, GLOBAL_ENTRIES, SHARED_COUNTERS, SLOT, TICKET};
use super::values::{compute, number, pair_of_blocks, physical, size};
use super::version::{Layout, Pair};
use super::{LOG, LOG_ENTRIES, REGIONS, SLOTS, THREADS, copies};

/// What counters are ahead by when their thread has ended: nobody waits for them.
const ENDED: i64 = 1 << 30;
/// In place of the number of a turn: a region that nobody need wait for.
const BROKEN: i64 = -1;
/// Where the bits of a block are in the mark of an entry: above those of positions.
const TAG: i64 = 16;

/// How often a warp that waits as a whole looks before its threads wait alone.
pub(super) const ROUNDS: u64 = 1 << 14;

/// What a thread says of an entry that it has dealt with.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Publish {
    /// That it has.
    #[default]
    Now,
    /// The second copy says so after the instruction: [`Log::commit`].
    Later,
    /// That it ends, where the guard of the instruction holds.
    Last(Option<Guard>),
}

/// The log of a thread, as a kernel sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log {
    layout: Layout,
    /// How many entries the thread has dealt with.
    position: Reg,
    pub(super) first: Reg,
    pub(super) second: Reg,
    /// The counter of the twin, and the one of the thread.
    poll: Reg,
    own: Reg,
    /// How far the counter of the twin must be ahead of the position at least, minus one, before the thread can go on.
    limit: Reg,
    entries: Reg,
    /// Bytes from an entry to the next, and from a word of it to the next: neighbours have neighbouring words.
    stride: Reg,
    distance: Reg,
    /// The helper with which a warp waits as a whole, if it can be of use, and the one with which a thread waits alone.
    wait_together: Option<FuncId>,
    wait_alone: Option<FuncId>,
    /// The place in the ring of the next entry, if it is always the same.
    place: Option<u32>,
    /// Bits of the block, which are in each entry beside the position.
    tag: Reg,
}

/// A kernel begins.
pub(super) fn begin(at: &mut Cursor<'_, '_>, pair: Pair) {
    let position = at.reg(Type::B32);
    at.state::<Kept>().position = Some(position);
    at.before().inst("mov.u32", &[position.into(), 0.into()]);
    let log = Log::of(at, pair);
    match pair.layout {
        Layout::Blocks => {
            let (turn, free) = (turn(at), free(at));
            let [now, is_early] = [at.reg(Type::B32), at.reg(Type::Pred)];
            at.before().inst("ld.acquire.gpu.global.b32", &[now.into(), Operand::RegAddress(free, 0)]);
            at.before().inst("setp.ne.b32", &[is_early.into(), now.into(), turn.into()]);
            let arguments = [free.into(), turn.into()];
            at.call(Some(Guard::when(is_early)), "warpgrind_rmt_wait_for_turn", &[], &arguments);
        }
        _ => {
            let mut builder = at.before();
            builder.inst("st.shared.b32", &[Operand::RegAddress(log.own, 0), 0.into()]);
            builder.inst("bar.sync", &[0.into()]);
        }
    }
}

/// A thread has agreed with its twin, or not, that it ends: what they had is for the next pair of blocks.
pub(super) fn end(at: &mut Cursor<'_, '_>, pair: Pair, guard: Option<Guard>, same: Reg) {
    if pair.layout != Layout::Blocks {
        return;
    }
    let (log, turn, free) = (Log::of(at, pair), turn(at), free(at));
    let next = compute(at, "add.u32", &[turn.into(), 1.into()]);
    let [agree, differ] = [at.reg(Type::Pred), at.reg(Type::Pred)];
    let mut builder = at.before();
    builder.inst("not.pred", &[differ.into(), same.into()]);
    builder.inst("and.pred", &[agree.into(), same.into(), log.second.into()]);
    builder.inst("and.pred", &[differ.into(), differ.into(), log.second.into()]);
    at.and_guard(agree, agree, guard);
    at.and_guard(differ, differ, guard);
    let ended = at.reg(Type::B32);
    let [agree, differ] = [agree, differ].map(Guard::when);
    let [own, poll, free] = [log.own, log.poll, free].map(|address| Operand::RegAddress(address, 0));
    let mut builder = at.before();
    builder.guarded(agree, "st.global.b32", &[poll, 0.into()]);
    builder.guarded(agree, "st.global.b32", &[own, 0.into()]);
    builder.guarded(agree, "st.release.gpu.global.b32", &[free, next.into()]);
    builder.inst("add.u32", &[ended.into(), log.position.into(), ENDED.into()]);
    builder.guarded(differ, "st.release.gpu.global.b32", &[own, ended.into()]);
    builder.guarded(differ, "st.release.gpu.global.b32", &[free, BROKEN.into()]);
}

/// The region of a pair of blocks, among all regions.
fn region(at: &mut Cursor<'_, '_>) -> Reg {
    let [number, shift] = [pair_of_blocks(at), size(at, REGIONS)];
    let regions = compute(at, "shl.b32", &[1.into(), shift.into()]);
    let last = compute(at, "sub.u32", &[regions.into(), 1.into()]);
    compute(at, "and.b32", &[number.into(), last.into()])
}

/// How many pairs of blocks have the region before.
fn turn(at: &mut Cursor<'_, '_>) -> Reg {
    let [number, shift] = [pair_of_blocks(at), size(at, REGIONS)];
    compute(at, "shr.u32", &[number.into(), shift.into()])
}

/// The address of what a pair of threads has in global memory, so many bytes for each.
fn of_thread(at: &mut Cursor<'_, '_>, start: Reg, bytes: u32, element: u32) -> Reg {
    let [region, threads, thread] = [region(at), size(at, THREADS), number(at)];
    let before = compute(at, "mul.lo.u32", &[threads.into(), i64::from(bytes).into()]);
    let before = compute(at, "mul.lo.u32", &[before.into(), region.into()]);
    let offset = compute(at, "mad.lo.u32", &[thread.into(), i64::from(element).into(), before.into()]);
    let offset = at.at_entry("cvt.u64.u32", Type::B64, &[offset.into()]);
    at.at_entry("add.u64", Type::B64, &[start.into(), offset.into()])
}

/// The address of the counter of entries written, in global memory.
fn written(at: &mut Cursor<'_, '_>) -> Reg {
    let log = at.word(LOG);
    let start = at.at_entry("add.u64", Type::B64, &[log.into(), i64::from(TICKET).into()]);
    of_thread(at, start, GLOBAL_COUNTERS, 4)
}

/// The address of the number of the turn, in global memory.
fn free(at: &mut Cursor<'_, '_>) -> Reg {
    let [written, threads] = [written(at), size(at, THREADS)];
    at.at_entry("mad.wide.u32", Type::B64, &[threads.into(), 8.into(), written.into()])
}

impl Log {
    pub(super) fn of(at: &mut Cursor<'_, '_>, pair: Pair) -> Self {
        let position = at.state::<Kept>().position.expect("only kernels have a log");
        let [first, second] = [copies::is_first(at, pair), copies::is_second(at, pair)];
        let [copy, threads] = [copies::copy(at, pair), size(at, THREADS)];
        let other = compute(at, "xor.b32", &[copy.into(), 1.into()]);
        let distance = compute(at, "shl.b32", &[threads.into(), 2.into()]);
        let stride = compute(at, "shl.b32", &[threads.into(), i64::from(SLOT.trailing_zeros()).into()]);
        let (poll, own, entries);
        if pair.layout == Layout::Blocks {
            let [written, all] = [written(at), at.word(LOG_ENTRIES)];
            entries = of_thread(at, all, GLOBAL_ENTRIES * SLOT, 4);
            [own, poll] = [copy, other]
                .map(|which| at.at_entry("mad.wide.u32", Type::B64, &[which.into(), distance.into(), written.into()]));
        } else {
            let memory = Symbol::Global(at.editor().module_mut().dynamic_shared(SLOT));
            let [start, offset] = [compute(at, "mov.u32", &[Operand::Symbol(memory, 0)]), size(at, SLOTS)];
            let start = compute(at, "add.u32", &[start.into(), offset.into()]);
            let thread = pair.thread_of_copy(at);
            let written = compute(at, "mad.lo.u32", &[thread.into(), 4.into(), start.into()]);
            let counters = i64::from(SHARED_COUNTERS);
            let after = compute(at, "mad.lo.u32", &[threads.into(), counters.into(), start.into()]);
            entries = compute(at, "mad.lo.u32", &[thread.into(), 4.into(), after.into()]);
            [own, poll] =
                [copy, other].map(|which| compute(at, "mad.lo.u32", &[which.into(), distance.into(), written.into()]));
        }
        let least = compute(at, "mul.lo.s32", &[other.into(), (-i64::from(pair.layout.log_entries())).into()]);
        let (together, alone) = match pair.layout {
            Layout::Blocks => (Some("warpgrind_rmt_wait"), "warpgrind_rmt_wait_alone"),
            _ => {
                (at.state::<Kept>().pace.waits.then_some("warpgrind_rmt_wait_for_warp"), "warpgrind_rmt_wait_in_block")
            }
        };
        let wait_together = together.and_then(|helper| at.helper(helper));
        let (wait_alone, stmt) = (at.helper(alone), at.statement());
        let kept = at.state::<Kept>();
        let place = (!kept.pace.is_repeated(stmt)).then_some(kept.places);
        let block = if pair.layout == Layout::Blocks { turn(at) } else { physical(at, Special::CtaidX) };
        let tag = compute(at, "shl.b32", &[block.into(), TAG.into()]);
        let layout = pair.layout;
        Self {
            layout,
            position,
            first,
            second,
            poll,
            own,
            limit: least,
            entries,
            stride,
            distance,
            wait_together,
            wait_alone,
            place,
            tag,
        }
    }

    /// So many words are written into the log: what is written later gets other places.
    pub(super) fn take_places(self, at: &mut Cursor<'_, '_>, words: usize) {
        if self.place.is_some() {
            at.state::<Kept>().places += words.div_ceil(ENTRY_WORDS) as u32;
        }
    }

    fn is_global(self) -> bool {
        self.layout == Layout::Blocks
    }

    /// A load or store of a counter, in order with what the twin does.
    fn ordered(self, what: &str) -> String {
        format!("{what}.{}", if self.is_global() { "gpu.global.b32" } else { "cta.shared.b32" })
    }

    /// Waits until the counter of the twin is ahead of a position by more than a limit, where a predicate holds.
    fn wait(self, builder: &mut Builder<'_, '_>, position: Reg, limit: Operand, only: Option<Reg>) {
        let [now, ahead] = [builder.reg(Type::B32), builder.reg(Type::B32)];
        let (mut only, mut looks) = (only, None);
        for wait in [self.wait_together, self.wait_alone].into_iter().flatten() {
            let is_early = builder.reg(Type::Pred);
            builder.inst_if(looks, &self.ordered("ld.acquire"), &[now.into(), Operand::RegAddress(self.poll, 0)]);
            builder.inst("sub.s32", &[ahead.into(), now.into(), position.into()]);
            builder.setp(is_early.into(), "le", "s32", [ahead.into(), limit], only.map(Guard::when));
            let arguments = [self.poll.into(), position.into(), limit];
            builder.call(Some(Guard::when(is_early)), wait, &[], &arguments);
            (only, looks) = (Some(is_early), Some(Guard::when(is_early)));
        }
    }

    /// The position goes on to an entry, if its place is known. Gives the position before.
    fn go_to(self, builder: &mut Builder<'_, '_>, index: usize) -> Reg {
        let before = builder.reg(Type::B32);
        builder.inst("mov.b32", &[before.into(), self.position.into()]);
        let Some(place) = self.place_of(index) else { return before };
        let more = builder.reg(Type::B32);
        builder.inst("sub.u32", &[more.into(), place, self.position.into()]);
        builder.inst("and.b32", &[more.into(), more.into(), self.mask().into()]);
        builder.inst("add.u32", &[self.position.into(), self.position.into(), more.into()]);
        before
    }

    /// The place in the ring of an entry, of those that an instruction writes.
    fn place_of(self, index: usize) -> Option<Operand> {
        Some(((i64::from(self.place?) + index as i64) & self.mask()).into())
    }

    fn mask(self) -> i64 {
        i64::from(self.layout.log_entries() - 1)
    }

    /// The address of the entry at the position.
    fn entry(self, builder: &mut Builder<'_, '_>, index: usize) -> Reg {
        let place = self.place_of(index).unwrap_or_else(|| {
            let place = builder.reg(Type::B32);
            builder.inst("and.b32", &[place.into(), self.position.into(), self.mask().into()]);
            place.into()
        });
        let (ty, spelling) = if self.is_global() { (Type::B64, "mad.wide.u32") } else { (Type::B32, "mad.lo.u32") };
        let address = builder.reg(ty);
        builder.inst(spelling, &[address.into(), self.stride.into(), place, self.entries.into()]);
        address
    }

    /// Loads or stores words of an entry.
    fn move_words(self, builder: &mut Builder<'_, '_>, only: Option<Guard>, what: &str, words: &[Reg], entry: Reg) {
        let spelling = format!("{what}.{}.b32", if self.is_global() { "global" } else { "shared" });
        let (ty, add) = if self.is_global() { (Type::B64, "mad.wide.u32") } else { (Type::B32, "mad.lo.u32") };
        for (index, &word) in words.iter().enumerate() {
            let mut address = entry;
            if index > 0 {
                address = builder.reg(ty);
                builder.inst(add, &[address.into(), self.distance.into(), (index as i64).into(), entry.into()]);
            }
            let address = Operand::RegAddress(address, 0);
            let operands = if what == "ld" { [word.into(), address] } else { [address, word.into()] };
            builder.inst_if(only, &spelling, &operands);
        }
    }

    /// The first copy writes words into the log, and the second gets them. The first has its own.
    pub(super) fn swap(self, builder: &mut Builder<'_, '_>, words: &[Reg], publish: Publish) -> Vec<Reg> {
        let mut received = Vec::new();
        let entries = words.len().div_ceil(ENTRY_WORDS);
        for (index, words) in words.chunks(ENTRY_WORDS).enumerate() {
            let before = self.go_to(builder, index);
            // The first copy needs room for this entry. The second takes whatever comes next: if that is another one, they differ.
            let awaited = builder.reg(Type::B32);
            builder.inst("selp.b32", &[awaited.into(), self.position.into(), before.into(), self.first.into()]);
            self.wait(builder, awaited, self.limit.into(), None);
            let entry = self.entry(builder, index);
            let mark = builder.reg(Type::B32);
            builder.inst("xor.b32", &[mark.into(), before.into(), self.tag.into()]);
            let words = [words, &[mark]].concat();
            let mut own = copy_words(builder, &words);
            // Branches, and no guards: all lanes of a warp are of one copy, which so does nothing for the other.
            let [read, done] = [builder.label("read"), builder.label("done")];
            builder.branch(Some(Guard::when(self.second)), read);
            self.move_words(builder, None, "st", &words, entry);
            builder.branch(None, done);
            builder.place(read);
            self.move_words(builder, None, "ld", &own, entry);
            builder.place(done);
            let wrong = own.pop().expect("there is the mark");
            builder.inst("xor.b32", &[wrong.into(), wrong.into(), mark.into()]);
            // What differs there differs in what was received.
            builder.inst("xor.b32", &[own[0].into(), own[0].into(), wrong.into()]);
            received.extend(own);
            builder.inst("add.u32", &[self.position.into(), self.position.into(), 1.into()]);
            self.publish(builder, if index + 1 == entries { publish } else { Publish::Now });
        }
        received
    }

    fn publish(self, builder: &mut Builder<'_, '_>, publish: Publish) {
        let own = Operand::RegAddress(self.own, 0);
        let release = self.ordered("st.release");
        match publish {
            Publish::Now => _ = builder.inst(&release, &[own, self.position.into()]),
            Publish::Later => {
                builder.guarded(Guard::when(self.first), &release, &[own, self.position.into()]);
            }
            Publish::Last(guard) => {
                let ended = builder.reg(Type::B32);
                builder.inst("add.u32", &[ended.into(), self.position.into(), ENDED.into()]);
                let mut value = ended;
                if let Some(guard) = guard {
                    value = builder.reg(Type::B32);
                    let both = [ended.into(), self.position.into()];
                    let [yes, no] = if guard.negated { [both[1], both[0]] } else { both };
                    builder.inst("selp.b32", &[value.into(), yes, no, guard.reg.into()]);
                }
                // In two blocks, the second copy says so when it has compared, and resets the counters.
                let only = (self.is_global() && guard.is_none()).then(|| Guard::when(self.first));
                let value = if self.is_global() { self.value_of_copy(builder, value) } else { value };
                builder.inst_if(only, &release, &[own, value.into()]);
            }
        }
    }

    /// What the copies write at an end that may not be one: the second goes on to count.
    fn value_of_copy(self, builder: &mut Builder<'_, '_>, first: Reg) -> Reg {
        let value = builder.reg(Type::B32);
        builder.inst("selp.b32", &[value.into(), first.into(), self.position.into(), self.first.into()]);
        value
    }

    /// The second copy has done what was compared.
    pub(super) fn commit(self, builder: &mut Builder<'_, '_>) {
        let release = self.ordered("st.release");
        builder.guarded(Guard::when(self.second), &release, &[Operand::RegAddress(self.own, 0), self.position.into()]);
    }

    /// The first copy waits until the second has done all that was compared.
    pub(super) fn wait_for_commit(self, builder: &mut Builder<'_, '_>) {
        self.wait(builder, self.position, Operand::Int(-1), Some(self.first));
    }

    /// The second copy gives words to the first, which waits for them. The second has its own.
    pub(super) fn give_back(self, builder: &mut Builder<'_, '_>, words: &[Reg]) -> Vec<Reg> {
        let mut received = Vec::new();
        for (index, words) in words.chunks(ENTRY_WORDS).enumerate() {
            self.go_to(builder, index);
            let entry = self.entry(builder, index);
            self.move_words(builder, Some(Guard::when(self.second)), "st", words, entry);
            builder.inst("add.u32", &[self.position.into(), self.position.into(), 1.into()]);
            self.commit(builder);
            self.wait_for_commit(builder);
            let own = copy_words(builder, words);
            self.move_words(builder, Some(Guard::when(self.first)), "ld", &own, entry);
            received.extend(own);
        }
        received
    }
}

/// The same words in other registers.
fn copy_words(builder: &mut Builder<'_, '_>, words: &[Reg]) -> Vec<Reg> {
    let copied = words.iter().map(|&word| {
        let copy = builder.reg(Type::B32);
        builder.inst("mov.b32", &[copy.into(), word.into()]);
        copy
    });
    copied.collect()
}
