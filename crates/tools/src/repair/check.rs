//! The check of an access, in straight-line code: whether a conflicting access of a later turn came before it.
//!
//! A granule has records of the latest turns, in the serial order, whose threads have written it, read it, or changed it by a
//! reduction. Turns are numbers (`turn.rs`), so an access looks whether one of these is larger than its own, and else puts its
//! own there. Where one is, a helper decides. Vector code does this for all lanes together: of lanes that store to one place
//! the last wins, for records as for the program's own stores, so lanes of one instruction are in order.

use ptx::ir::{Guard, Operand, Reg};
use ptx::types::Type;
use rewrite::{Cursor, SiteId};

use crate::records::Planes;

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
            let mut read = cells.load(at, cells.read, part);
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
            false => Planes { start: ARENA, bytes: ARENA_BYTES, first: PLANE, distance: DISTANCE },
            true => Planes { start: WINDOWS, bytes: WINDOWS_BYTES, first: SHARED_PLANE, distance: SHARED_DISTANCE },
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
}
