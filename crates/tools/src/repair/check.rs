//! The check of an access, in straight-line code: whether a conflicting access of a later turn came before it.
//!
//! A granule has records of the latest turns, in the serial order, whose threads have written it, read it, or changed it by a
//! reduction. Turns are numbers (`turn.rs`), so an access looks whether one of these is larger than its own, and else puts its
//! own there. Where one is, a helper decides. Vector code does this for all lanes together: of lanes that store to one place
//! the last wins, for records as for the program's own stores, so lanes of one instruction are in order.

use ptx::ir::{Guard, Operand, Reg};
use ptx::types::Type;
use rewrite::{Access, Cursor, SiteId};

use crate::records::Planes;

use super::test_and_set::Comparison;
use super::turn::SITES;
use super::{ARENA, ARENA_BYTES, DISTANCE, PLANE, SHARED_DISTANCE, SHARED_PLANE, WINDOWS, WINDOWS_BYTES};

/// An access that is checked in straight-line code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked {
    /// The address, as one of generic memory.
    pub(super) address: Reg,
    pub(super) is_shared: bool,
    pub(super) guard: Option<Guard>,
    pub(super) site: SiteId,
    /// Whether it writes what nobody reads (`racecheck::prune`).
    pub(super) is_unread: bool,
    /// How large granules are, as a power of two, and how many are accessed.
    pub(super) granule: u32,
    pub(super) granules: u32,
    /// The turn of the thread.
    pub(super) turn: Reg,
    /// Whether there are records of reductions.
    pub(super) has_reductions: bool,
}

/// What a helper is told of an access that comes too late.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    /// Where it is one.
    pub(super) is_late: Reg,
    /// The latest write, or reduction if the access is a read.
    pub(super) written: Reg,
    /// The latest read, or reduction.
    pub(super) read: Reg,
}

/// More granules than this are left to the helper.
pub(super) const MOST_GRANULES: u32 = 4;

impl Checked {
    /// Checks a read, and records it.
    pub(super) fn read(&self, at: &mut Cursor<'_, '_>, mut late: impl FnMut(&mut Cursor<'_, '_>, Late)) {
        let cells = self.cells(at);
        let (own, limit) = self.own(at);
        for part in 0..self.granules {
            let mut written = cells.load(at, cells.written, part);
            if let Some(reductions) = cells.reduced {
                let reduced = cells.load(at, reductions, part);
                written = larger(at, written, reduced);
            }
            let read = cells.load(at, cells.read, part);
            let (is_late, is_newer) = (at.reg(Type::Pred), at.reg(Type::Pred));
            at.before().inst("setp.gt.and.u64", &[is_late.into(), written.into(), limit.into(), cells.within.into()]);
            at.before().inst("setp.lt.and.u64", &[is_newer.into(), read.into(), own.into(), cells.within.into()]);
            let cell = Operand::RegAddress(cells.read, part as i32 * 8);
            at.before().guarded(Guard::when(is_newer), "st.global.b64", &[cell, own.into()]);
            late(at, Late { is_late, written, read });
        }
    }

    /// Checks a write, and records it.
    pub(super) fn write(&self, at: &mut Cursor<'_, '_>, mut late: impl FnMut(&mut Cursor<'_, '_>, Late)) {
        let cells = self.cells(at);
        let (own, limit) = self.own(at);
        for part in 0..self.granules {
            let written = cells.load(at, cells.written, part);
            let mut read = if self.is_unread { zero(at) } else { cells.load(at, cells.read, part) };
            if let Some(reductions) = cells.reduced {
                let reduced = cells.load(at, reductions, part);
                read = larger(at, read, reduced);
            }
            let last = larger(at, written, read);
            let (is_late, is_next) = (at.reg(Type::Pred), at.reg(Type::Pred));
            at.before().inst("setp.gt.and.u64", &[is_late.into(), last.into(), limit.into(), cells.within.into()]);
            at.before().inst("setp.le.and.u64", &[is_next.into(), last.into(), limit.into(), cells.within.into()]);
            let cell = Operand::RegAddress(cells.written, part as i32 * 8);
            at.before().guarded(Guard::when(is_next), "st.global.b64", &[cell, own.into()]);
            late(at, Late { is_late, written, read });
        }
    }

    /// Checks a read of a place that is only compared, or may be set, and records it: these have no order among each other.
    pub(super) fn test(&self, at: &mut Cursor<'_, '_>, sets: bool, mut late: impl FnMut(&mut Cursor<'_, '_>, Late)) {
        let cells = self.cells(at);
        let (own, limit) = self.own(at);
        for part in 0..self.granules {
            let written = cells.load(at, cells.written, part);
            let read = cells.load(at, cells.read, part);
            let last = if sets { larger(at, written, read) } else { written };
            let is_late = at.reg(Type::Pred);
            at.before().inst("setp.gt.and.u64", &[is_late.into(), last.into(), limit.into(), cells.within.into()]);
            cells.record_reduction(at, part, own, cells.within);
            late(at, Late { is_late, written, read });
        }
    }

    /// Checks a write that sets a place, and records it. It has no order among other sets and tests, if all comparisons give
    /// the same for what is there and what it is set to.
    pub(super) fn set(
        &self,
        at: &mut Cursor<'_, '_>,
        access: &Access,
        comparisons: &[Comparison],
        mut late: impl FnMut(&mut Cursor<'_, '_>, Late),
    ) {
        let cells = self.cells(at);
        let (own, limit) = self.own(at);
        let is_noticed = self.is_noticed(at, access, comparisons, cells.within);
        let is_write = at.reg(Type::Pred);
        at.before().inst("and.pred", &[is_write.into(), is_noticed.into(), cells.within.into()]);
        let is_set = at.reg(Type::Pred);
        at.before().inst("not.pred", &[is_set.into(), is_noticed.into()]);
        at.before().inst("and.pred", &[is_set.into(), is_set.into(), cells.within.into()]);
        for part in 0..self.granules {
            let written = cells.load(at, cells.written, part);
            let read = cells.load(at, cells.read, part);
            let reduced = cells.reduced.map_or(read, |reductions| cells.load(at, reductions, part));
            let (all, before) = (larger(at, read, reduced), at.reg(Type::B64));
            at.before().inst("selp.b64", &[before.into(), all.into(), read.into(), is_noticed.into()]);
            let last = larger(at, written, before);
            let (is_late, is_next) = (at.reg(Type::Pred), at.reg(Type::Pred));
            at.before().inst("setp.gt.and.u64", &[is_late.into(), last.into(), limit.into(), cells.within.into()]);
            at.before().inst("setp.le.and.u64", &[is_next.into(), last.into(), limit.into(), is_write.into()]);
            let cell = Operand::RegAddress(cells.written, part as i32 * 8);
            at.before().guarded(Guard::when(is_next), "st.global.b64", &[cell, own.into()]);
            cells.record_reduction(at, part, own, is_set);
            late(at, Late { is_late, written, read: before });
        }
    }

    /// Whether a comparison gives something else after a place is set than before.
    fn is_noticed(&self, at: &mut Cursor<'_, '_>, access: &Access, comparisons: &[Comparison], within: Reg) -> Reg {
        let (load, copy, ty) = match self.granules << self.granule {
            8 => ("ld.b64", "mov.b64", Type::B64),
            _ => ("ld.b32", "mov.b32", Type::B32),
        };
        let (old, new, is_noticed) = (at.reg(ty), at.reg(ty), at.reg(Type::Pred));
        let value = at.editor().view(access.stmt).map_or(Operand::Int(0), |view| view.operands()[1]);
        at.before().inst(copy, &[new.into(), value]);
        at.before().inst(copy, &[old.into(), new.into()]);
        at.before().guarded(Guard::when(within), load, &[old.into(), Operand::RegAddress(self.address, 0)]);
        at.before().inst("setp.ne.b64", &[is_noticed.into(), self.address.into(), self.address.into()]);
        for Comparison { spelling, with } in comparisons {
            let [before, after] = [old, new].map(|value| {
                let holds = at.reg(Type::Pred);
                at.before().inst(spelling, &[holds.into(), value.into(), *with]);
                holds
            });
            at.before().inst("xor.pred", &[before.into(), before.into(), after.into()]);
            at.before().inst("or.pred", &[is_noticed.into(), is_noticed.into(), before.into()]);
        }
        is_noticed
    }

    /// The record of the access, and the largest that the thread has in this turn.
    fn own(&self, at: &mut Cursor<'_, '_>) -> (Reg, Reg) {
        let (own, limit) = (at.reg(Type::B64), at.reg(Type::B64));
        let site = Operand::Int(self.site.0.min(SITES).into());
        at.before().inst("or.b64", &[own.into(), self.turn.into(), site]);
        at.before().inst("or.b64", &[limit.into(), self.turn.into(), Operand::Int(SITES.into())]);
        (own, limit)
    }

    /// Where the records are.
    fn cells(&self, at: &mut Cursor<'_, '_>) -> Cells {
        let planes = match self.is_shared {
            false => Planes { start: ARENA, bytes: ARENA_BYTES, first: at.word(PLANE), distance: DISTANCE },
            true => {
                let first = at.word(SHARED_PLANE);
                Planes { start: WINDOWS, bytes: WINDOWS_BYTES, first, distance: SHARED_DISTANCE }
            }
        };
        let records = planes.records(at, self.address, self.granule, self.guard);
        let reduced = self.has_reductions.then(|| {
            let reduced = at.reg(Type::B64);
            at.before().inst("add.u64", &[reduced.into(), records.second.into(), records.distance.into()]);
            reduced
        });
        Cells { within: records.within, written: records.first, read: records.second, reduced }
    }
}

/// What is recorded of nobody.
fn zero(at: &mut Cursor<'_, '_>) -> Reg {
    let zero = at.reg(Type::B64);
    at.before().inst("mov.b64", &[zero.into(), 0.into()]);
    zero
}

fn larger(at: &mut Cursor<'_, '_>, one: Reg, other: Reg) -> Reg {
    let larger = at.reg(Type::B64);
    at.before().inst("max.u64", &[larger.into(), one.into(), other.into()]);
    larger
}

/// Where the records of an access are.
struct Cells {
    /// Whether there are any, and the access takes place.
    within: Reg,
    written: Reg,
    read: Reg,
    /// Nothing if there are no reductions.
    reduced: Option<Reg>,
}

impl Cells {
    /// A record of a granule.
    fn load(&self, at: &mut Cursor<'_, '_>, cells: Reg, part: u32) -> Reg {
        let record = at.reg(Type::B64);
        let cell = Operand::RegAddress(cells, part as i32 * 8);
        at.before().guarded(Guard::when(self.within), "ld.global.b64", &[record.into(), cell]);
        record
    }

    /// Puts a record in the place of a smaller one of a reduction, where a predicate holds.
    fn record_reduction(&self, at: &mut Cursor<'_, '_>, part: u32, own: Reg, holds: Reg) {
        let Some(reductions) = self.reduced else { return };
        let (reduced, is_newer) = (self.load(at, reductions, part), at.reg(Type::Pred));
        at.before().inst("setp.lt.and.u64", &[is_newer.into(), reduced.into(), own.into(), holds.into()]);
        let cell = Operand::RegAddress(reductions, part as i32 * 8);
        at.before().guarded(Guard::when(is_newer), "st.global.b64", &[cell, own.into()]);
    }
}
