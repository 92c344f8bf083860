//! What is counted in the kernel itself, without a call: requests of whole warps whose lanes are a known distance apart, and
//! branches at which lanes cannot part.
//!
//! Of instructions that follow each other, all are executed if one is. So a warp with all lanes is counted once for them, where the
//! first of them is: such a [`Presence`] is that of a group.
//!
//! Lanes that are `s` bytes apart access `base + s * lane`, and `base` is the same for all of them: devices that compute such
//! values once for a warp do so here. With steps of at most a sector, all sectors from the first lane's to the last lane's are
//! accessed; with larger steps, each lane has its own.
//!
//! That lanes are so far apart may depend on an index that does not wrap at 32 bits between two lanes of a warp. Of a request
//! where it does, what is counted is that of lanes at equal distances.

use ptx::ir::{Guard, Operand, Reg};
use ptx::special::Special;
use ptx::types::Type;
use rewrite::context::Tallies;
use rewrite::{Cursor, SiteId};

use super::counters::{MORE_LINES, MORE_SECTORS, REQUESTS};
use super::{LINE_BITS, SECTOR_BITS};

/// The lanes of a warp.
const LANES: i64 = 32;

/// Whether all lanes of the warp are here, and whether not all are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Presence {
    lanes: Reg,
    all: Reg,
    some: Reg,
}

impl Presence {
    pub(super) fn of(at: &mut Cursor<'_, '_>) -> Self {
        let (lanes, all, some) = (at.reg(Type::B32), at.reg(Type::Pred), at.reg(Type::Pred));
        let mut builder = at.before();
        builder.inst("activemask.b32", &[lanes.into()]);
        builder.inst("setp.eq.b32", &[all.into(), lanes.into(), Operand::Int(-1)]);
        builder.inst("setp.ne.b32", &[some.into(), lanes.into(), Operand::Int(-1)]);
        Self { lanes, all, some }
    }

    /// Where not all lanes are here.
    pub(super) fn is_partial(&self) -> Guard {
        Guard::when(self.some)
    }
}

/// Counts a warp with all lanes for a group.
pub(super) fn count_group(at: &mut Cursor<'_, '_>, site: SiteId) -> Presence {
    let presence = Presence::of(at);
    add(at, presence.all, site, REQUESTS, Operand::Int(1));
    presence
}

/// Counts what a request to global memory has beyond one sector and one line, if all lanes are here.
pub(super) fn count_global(at: &mut Cursor<'_, '_>, presence: &Presence, site: SiteId, address: Reg, stride: i64) {
    let lane = lane(at);
    let distance = at.at_entry("mul.wide.s32", Type::B64, &[lane.into(), Operand::Int(stride)]);
    let (first, last) = (at.reg(Type::B64), at.reg(Type::B64));
    let mut builder = at.before();
    builder.inst("sub.u64", &[first.into(), address.into(), distance.into()]);
    builder.inst("add.u64", &[last.into(), first.into(), Operand::Int(stride * (LANES - 1))]);
    let (low, high) = if stride < 0 { (last, first) } else { (first, last) };
    for (counter, bits) in [(MORE_SECTORS, SECTOR_BITS), (MORE_LINES, LINE_BITS)] {
        let more = if stride.unsigned_abs() >= 1 << bits {
            Operand::Int(LANES - 1)
        } else if stride == 0 {
            continue;
        } else {
            more(at, low, high, bits)
        };
        add(at, presence.all, site, counter, more);
    }
}

/// The same for lanes that access all sectors from one address to another, both counted from that of the first lane.
pub(super) fn count_span(at: &mut Cursor<'_, '_>, presence: &Presence, site: SiteId, address: Reg, span: (i64, i64)) {
    let (low, high) = (at.reg(Type::B64), at.reg(Type::B64));
    let mut builder = at.before();
    builder.inst("add.u64", &[low.into(), address.into(), Operand::Int(span.0)]);
    builder.inst("add.u64", &[high.into(), address.into(), Operand::Int(span.1)]);
    for (counter, bits) in [(MORE_SECTORS, SECTOR_BITS), (MORE_LINES, LINE_BITS)] {
        let more = more(at, low, high, bits);
        add(at, presence.all, site, counter, more);
    }
}

/// How many pieces of memory there are from one address to another, without the first.
fn more(at: &mut Cursor<'_, '_>, low: Reg, high: Reg, bits: u32) -> Operand {
    let (first, last, more) = (at.reg(Type::B64), at.reg(Type::B64), at.reg(Type::B64));
    let mut builder = at.before();
    builder.inst("shr.u64", &[first.into(), low.into(), Operand::Int(bits.into())]);
    builder.inst("shr.u64", &[last.into(), high.into(), Operand::Int(bits.into())]);
    builder.inst("sub.u64", &[more.into(), last.into(), first.into()]);
    more.into()
}

/// Counts an execution of a branch at which lanes can part, if all are here and do not; gives where it is still to be counted.
pub(super) fn count_branch(at: &mut Cursor<'_, '_>, site: SiteId, condition: Reg) -> Guard {
    let Presence { lanes, all, .. } = Presence::of(at);
    let (taken, agree, rest) = (at.reg(Type::B32), at.reg(Type::Pred), at.reg(Type::Pred));
    let mut builder = at.before();
    builder.inst("vote.sync.ballot.b32", &[taken.into(), condition.into(), lanes.into()]);
    builder.inst("setp.eq.b32", &[agree.into(), taken.into(), Operand::Int(0)]);
    builder.inst("setp.eq.or.b32", &[agree.into(), taken.into(), lanes.into(), agree.into()]);
    builder.inst("and.pred", &[agree.into(), agree.into(), all.into()]);
    builder.inst("not.pred", &[rest.into(), agree.into()]);
    add(at, agree, site, REQUESTS, Operand::Int(1));
    Guard::when(rest)
}

/// Adds to a tally under a condition that is true only if all lanes are here, and then for all of them. One of them does it.
fn add(at: &mut Cursor<'_, '_>, condition: Reg, site: SiteId, counter: u64, amount: Operand) {
    let (tallies, lane) = (at.tallies(), lane(at));
    let is_first = at.at_entry("setp.eq.b32", Type::Pred, &[lane.into(), Operand::Int(0)]);
    let place = Operand::RegAddress(tallies, (Tallies::FIRST + 8 * (site.0 + counter as u32)) as i32);
    let (tally, added) = (at.reg(Type::B64), at.reg(Type::B64));
    let mut builder = at.before();
    builder.inst("ld.global.b64", &[tally.into(), place]);
    builder.inst("selp.b64", &[added.into(), amount, Operand::Int(0), condition.into()]);
    builder.inst("add.u64", &[tally.into(), tally.into(), added.into()]);
    builder.guarded(Guard::when(is_first), "st.global.b64", &[place, tally.into()]);
}

fn lane(at: &mut Cursor<'_, '_>) -> Reg {
    at.at_entry("mov.u32", Type::B32, &[Operand::Special(Special::Laneid)])
}
