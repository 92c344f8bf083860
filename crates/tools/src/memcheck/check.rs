//! The check of an access, and of those that can be checked with it.
//!
//! Checks are straight-line code with a guarded call, never a branch, so that vector code stays whole: a device that
//! runs lanes in step compares a range of affine addresses by its ends, and passes arguments of a guarded call only
//! where some lane calls. What a check found is a number in a register across calls: NVIDIA's assembler has seven
//! predicates, and fails, instead of spilling, if more live across a call. What a helper must know of an access is in
//! the table of sites, not in its arguments.

use ptx::ir::{Guard, Operand, Reg, Symbol};
use ptx::special::Special;
use ptx::types::{Space, Type};
use ptx::view::{AccessBytes, AccessKind, AccessSpace};
use rewrite::context::DoubledShared;
use rewrite::{Access, Cursor, Member, SiteId};

use super::against::Against;
use super::allowed::AllowedLanes;
use super::slots::{self, MOST_BYTES, NO_OBJECT, keep_found};
use super::version::ShadowPlace;
use super::{
    AGAIN, ARENA, ARENA_BYTES, CERTAIN, LAST, READS_AND_WRITES, ROW, SHADOW, SHORT, SLACK, SPACE, SPACES, WRITES,
    checked_bytes, is_aligned, rows,
};

/// As many accesses are checked together as an answer has bits.
const MOST_TOGETHER: usize = 32;
/// From the lowest byte of them to the highest: what an access has less than that must fit in [`SLACK`].
const MOST_BYTES_TOGETHER: i64 = 1 << (32 - SLACK);

/// Accesses that are checked together.
pub(super) struct Together {
    /// The register that their addresses are made from, of 32 or 64 bits.
    pub(super) base: Reg,
    /// The accesses, with what their addresses add to it.
    members: Vec<Member>,
    /// What the lowest address adds to it.
    first: i64,
    /// Bytes from the lowest to the highest.
    bytes: u64,
}

impl Together {
    /// An access alone.
    pub(super) fn alone(at: &mut Cursor<'_, '_>, access: &Access, bytes: u32) -> Self {
        let members = vec![Member { access: *access, offset: 0 }];
        let base = match access.access.bytes {
            AccessBytes::Rows(rows) => rows::address(at, access, rows),
            _ => at.address(access),
        };
        Self { base, members, first: 0, bytes: bytes.into() }
    }

    /// Whether addresses have 32 bits.
    fn is_short(&self, at: &mut Cursor<'_, '_>) -> bool {
        at.editor().function().reg_type(self.base).bits() == 32
    }

    /// An access and the later ones of its group that are in the same memory; nothing if there are none.
    fn of_span(at: &mut Cursor<'_, '_>, access: &Access, against: Against) -> Option<Self> {
        let group = at.access_group(access)?;
        let position = group.members.iter().position(|member| member.access.stmt == access.stmt)?;
        let mut together = Self { base: group.base, members: Vec::new(), first: i64::MAX, bytes: 0 };
        let mut end = i64::MIN;
        for member in &group.members[position..] {
            let Some(bytes) = checked_bytes(&member.access).filter(|bytes| is_aligned(&member.access, *bytes)) else {
                continue;
            };
            if member.access.is_collective || Against::of(at, &member.access, bytes) != against {
                continue;
            }
            let first = together.first.min(member.offset.into());
            let last = end.max(i64::from(member.offset) + i64::from(bytes));
            if last - first > MOST_BYTES_TOGETHER {
                continue;
            }
            (together.first, end) = (first, last);
            together.members.push(*member);
            if together.members.len() == MOST_TOGETHER {
                break;
            }
        }
        together.bytes = end.abs_diff(together.first);
        (together.members.len() > 1).then_some(together)
    }

    /// An access and the later ones of its group that are to the same bytes: reads and writes of one element. Nothing if
    /// there are none.
    fn of_same(at: &mut Cursor<'_, '_>, access: &Access, bytes: u32, against: Against) -> Option<Self> {
        let group = at.access_group(access)?;
        let position = group.members.iter().position(|member| member.access.stmt == access.stmt)?;
        let offset = group.members[position].offset;
        let mut members = Vec::new();
        for &Member { access, offset: other } in &group.members[position..] {
            let is_same = other == offset && checked_bytes(&access) == Some(bytes) && !access.is_collective;
            if is_same && Against::of(at, &access, bytes) == against && members.len() < MOST_TOGETHER {
                members.push(Member { access, offset: 0 });
            }
        }
        (members.len() > 1).then(|| Self { base: at.address(access), members, first: 0, bytes: bytes.into() })
    }
}

/// Inserts the check of an access, and says where it is allowed.
pub(super) fn check(at: &mut Cursor<'_, '_>, access: &Access, bytes: u32) -> AllowedLanes {
    let is_aligned = is_aligned(access, bytes);
    let against = Against::of(at, access, bytes);
    if against == Against::Nothing && is_aligned {
        keep_found(at, access, AllowedLanes::Always);
        return AllowedLanes::Always;
    }
    let lanes = match access.access.bytes {
        AccessBytes::Rows(rows) => rows.count,
        _ => access.access.lanes,
    };
    let access = &rows::of_first_lanes(at, access, lanes);
    let may_join = is_aligned && !access.is_collective && against.is_one_piece();
    let together = match () {
        () if may_join => Together::of_span(at, access, against),
        () if access.is_collective => None,
        () => Together::of_same(at, access, bytes, against),
    };
    let together = together.unwrap_or_else(|| Together::alone(at, access, bytes));
    let misaligned = (!is_aligned).then(|| misaligned(at, together.base, bytes)).flatten();
    let outcome = Outcome::of(at, access, &together, against, misaligned);
    let answers = look_closely(at, &together, &outcome);
    let is_alone = together.members.len() == 1;
    let allowed = |nth: usize| AllowedLanes::Where { answers, mask: if is_alone { u32::MAX } else { 1 << nth } };
    for (nth, member) in together.members.iter().enumerate() {
        if member.access.index == 0 {
            keep_found(at, &member.access, allowed(nth));
        }
    }
    allowed(0)
}

/// What the short check of accesses tells.
struct Outcome {
    /// Where the guard holds and some access may be bad.
    bad: Reg,
    /// Where the guard holds and all are good.
    good: Reg,
    bounds: Bounds,
}

/// The memory that accesses are checked against.
pub(super) struct Bounds {
    /// Where it begins, or zero, and how many bytes it has beyond those that were looked for; less than zero if it has not
    /// so many, or if that is not known. 64 bits.
    pub(super) low: Operand,
    pub(super) limit: Operand,
    /// Whether an access outside of it is bad without doubt.
    is_certain: bool,
}

impl Bounds {
    /// Of the memory that a piece is checked against.
    pub(super) fn of_piece(at: &mut Cursor<'_, '_>, access: &Access, piece: &Together, against: Against) -> Self {
        match against {
            Against::Shadow => Self { low: 0.into(), limit: (-1).into(), is_certain: false },
            _ => Outcome::of(at, access, piece, against, None).bounds,
        }
    }
}

impl Outcome {
    fn of(
        at: &mut Cursor<'_, '_>,
        access: &Access,
        together: &Together,
        against: Against,
        misaligned: Option<Reg>,
    ) -> Self {
        let bits = at.editor().function().reg_type(together.base).bits();
        let guard = access.guard;
        match against {
            Against::Nothing => {
                // Only the alignment is in question.
                let zero = at.at_entry("mov.b32", Type::B32, &[0.into()]);
                let [bad, good] = compare(at, "ne", "b32", zero, 0.into(), misaligned, guard);
                Self { bad, good, bounds: Bounds { low: 0.into(), limit: (-1).into(), is_certain: true } }
            }
            Against::Slot([low, size]) => {
                let (start, max_offset, limit) = if together.bytes <= MOST_BYTES.into() {
                    let max_offset = slots::max_offset(at, [low, size], together.bytes as u32);
                    (low, max_offset, max_offset)
                } else {
                    max_offset(at, 64, low.into(), size, together.bytes as i64, NO_OBJECT as i64)
                };
                let distance = distance(at, together, start, bits);
                let [bad, good] = compare(at, "gt", "u64", distance, max_offset.into(), misaligned, guard);
                Self { bad, good, bounds: Bounds { low: low.into(), limit: limit.into(), is_certain: false } }
            }
            Against::Variable(symbol, space, size) => {
                let low = address_of(at, symbol, space, access.access.space, bits);
                let distance = distance(at, together, low, bits);
                // What is larger than the variable is never within it.
                let limit = size.cast_signed() - together.bytes.cast_signed();
                let (relation, max_offset) = if limit < 0 { ("ge", 0) } else { ("gt", limit) };
                let [bad, good] =
                    compare(at, relation, &format!("u{bits}"), distance, max_offset.into(), misaligned, guard);
                let low = at.widened(low).into();
                Self { bad, good, bounds: Bounds { low, limit: limit.into(), is_certain: true } }
            }
            Against::DynamicShared(_) | Against::Shared => {
                let (low, wide_low, size) = match against {
                    Against::DynamicShared(symbol) => {
                        let low = address_of(at, symbol, Space::Shared, access.access.space, bits);
                        (low.into(), at.widened(low).into(), dynamic_bytes(at))
                    }
                    _ => (Operand::Int(0), Operand::Int(0), shared_end(at)),
                };
                let size = if bits == 32 { size } else { at.at_entry("cvt.u64.u32", Type::B64, &[size.into()]) };
                let (start, max_offset, mut limit) = max_offset(at, bits, low, size, together.bytes as i64, -1);
                let distance = distance(at, together, start, bits);
                let [bad, good] =
                    compare(at, "gt", &format!("u{bits}"), distance, max_offset.into(), misaligned, guard);
                if bits == 32 {
                    let narrow = std::mem::replace(&mut limit, at.reg(Type::B64));
                    at.before().inst("cvt.s64.s32", &[limit.into(), narrow.into()]);
                }
                Self { bad, good, bounds: Bounds { low: wide_low, limit: limit.into(), is_certain: true } }
            }
            Against::Shadow => {
                let bytes = together.bytes as u32;
                let [bad, good] = look_at_shadow(at, access, together.base, bytes, misaligned);
                Self { bad, good, bounds: Bounds { low: 0.into(), limit: (-1).into(), is_certain: false } }
            }
        }
    }
}

/// How many bytes of dynamic shared memory the program has.
fn dynamic_bytes(at: &mut Cursor<'_, '_>) -> Reg {
    match super::version(at).shared_shadow {
        ShadowPlace::Plane => at.at_entry("mov.u32", Type::B32, &[Operand::Special(Special::DynamicSmemSize)]),
        ShadowPlace::Block => {
            let bytes = at.doubled_shared(DoubledShared::DynamicBytes);
            at.at_entry("cvt.u32.u64", Type::B32, &[bytes.into()])
        }
    }
}

/// Where shared memory of the program ends: with what is dynamic of it. The first address need not be 0, and is not on compute
/// capability 9.0, so the size alone does not say it.
fn shared_end(at: &mut Cursor<'_, '_>) -> Reg {
    let (bytes, dynamic) = (dynamic_bytes(at), at.shared_variable("warpgrind_dynamic_shared"));
    let start = at.at_entry("mov.u32", Type::B32, &[Operand::Symbol(dynamic, 0)]);
    at.at_entry("add.u32", Type::B32, &[start.into(), bytes.into()])
}

/// Where an object of a size that is known at run time begins, and how far from there some bytes may begin to be within it.
/// If they are more than it has, it begins where nothing is. The last is how many bytes it has more than those, or has less.
fn max_offset(
    at: &mut Cursor<'_, '_>,
    bits: u32,
    low: Operand,
    size: Reg,
    bytes: i64,
    nowhere: i64,
) -> (Reg, Reg, Reg) {
    let ty = if bits == 32 { Type::B32 } else { Type::B64 };
    let (fits, start, max_offset, limit) = (at.reg(Type::Pred), at.reg(ty), at.reg(ty), at.reg(ty));
    let mut builder = at.before();
    builder.inst(&format!("sub.u{bits}"), &[limit.into(), size.into(), bytes.into()]);
    builder.inst(&format!("setp.ge.u{bits}"), &[fits.into(), size.into(), bytes.into()]);
    builder.inst(&format!("selp.b{bits}"), &[start.into(), low, nowhere.into(), fits.into()]);
    builder.inst(&format!("selp.b{bits}"), &[max_offset.into(), limit.into(), 0.into(), fits.into()]);
    (start, max_offset, limit)
}

/// How far the lowest address is from a start.
fn distance(at: &mut Cursor<'_, '_>, together: &Together, start: Reg, bits: u32) -> Reg {
    let distance = at.reg(if bits == 32 { Type::B32 } else { Type::B64 });
    let mut builder = at.before();
    builder.inst(&format!("sub.u{bits}"), &[distance.into(), together.base.into(), start.into()]);
    if together.first != 0 {
        builder.inst(&format!("add.u{bits}"), &[distance.into(), distance.into(), together.first.into()]);
    }
    distance
}

/// The address of a variable, of the same kind as addresses that an access uses.
fn address_of(at: &mut Cursor<'_, '_>, symbol: Symbol, space: Space, of_access: AccessSpace, bits: u32) -> Reg {
    let (ty, spelling) = if bits == 32 { (Type::B32, "mov.u32") } else { (Type::B64, "mov.u64") };
    let low = at.reg(ty);
    at.before().inst(spelling, &[low.into(), Operand::Symbol(symbol, 0)]);
    if of_access != AccessSpace::Generic {
        return low;
    }
    let generic = at.reg(ty);
    at.before().inst(&format!("cvta.{space}.u{bits}"), &[generic.into(), low.into()]);
    generic
}

/// Whether an address is not a multiple of the size of its access.
fn misaligned(at: &mut Cursor<'_, '_>, address: Reg, bytes: u32) -> Option<Reg> {
    if bytes == 1 {
        return None;
    }
    let bits = at.editor().function().reg_type(address).bits();
    let low = at.reg(if bits == 32 { Type::B32 } else { Type::B64 });
    let misaligned = at.reg(Type::Pred);
    let mut builder = at.before();
    builder.inst(&format!("and.b{bits}"), &[low.into(), address.into(), i64::from(bytes - 1).into()]);
    builder.inst(&format!("setp.ne.b{bits}"), &[misaligned.into(), low.into(), 0.into()]);
    Some(misaligned)
}

/// Compares, and gives where the guard of the access holds and the access is bad, and where it holds and it is good.
///
/// Both predicates come from one instruction, so that devices see that it is a check.
pub(super) fn compare(
    at: &mut Cursor<'_, '_>,
    relation: &str,
    ty: &str,
    value: Reg,
    limit: Operand,
    also_bad: Option<Reg>,
    guard: Option<Guard>,
) -> [Reg; 2] {
    let value = match also_bad {
        None => value,
        Some(also) => {
            // The largest number is never good.
            let bits = at.editor().function().reg_type(value).bits();
            let either = at.reg(if bits == 32 { Type::B32 } else { Type::B64 });
            at.before().inst(&format!("selp.b{bits}"), &[either.into(), (-1).into(), value.into(), also.into()]);
            either
        }
    };
    let [bad, good] = [at.reg(Type::Pred), at.reg(Type::Pred)];
    let pair = Operand::Pair(bad.into(), good.into());
    at.before().setp(pair, relation, ty, [value.into(), limit], guard);
    [bad, good]
}

/// Looks whether the shadow of all bytes says that they can be accessed.
fn look_at_shadow(
    at: &mut Cursor<'_, '_>,
    access: &Access,
    address: Reg,
    bytes: u32,
    misaligned: Option<Reg>,
) -> [Reg; 2] {
    if let AccessBytes::Rows(_) = access.access.bytes {
        let (cell, bits) = rows::shadow(at, access, address, bytes);
        return compare(at, "ne", "b32", cell, Operand::Int((1 << bits) - 1), None, access.guard);
    }
    let [arena, size, shadow] = [at.word(ARENA), at.word(ARENA_BYTES), at.word(SHADOW)];
    let (offset, within) = (at.reg(Type::B64), at.reg(Type::Pred));
    at.before().inst("sub.u64", &[offset.into(), address.into(), arena.into()]);
    // The shadow of a misaligned address cannot be loaded in one piece.
    match misaligned {
        None => at.before().inst("setp.lt.u64", &[within.into(), offset.into(), size.into()]),
        Some(misaligned) => {
            at.before().inst("setp.lt.and.u64", &[within.into(), offset.into(), size.into(), Operand::Not(misaligned)])
        }
    };
    if access.guard.is_some() {
        at.and_guard(within, within, access.guard);
    }
    let (load, ty, full) = match bytes {
        1..=4 => ("ld.global.u8", Type::B32, 0xff),
        8 => ("ld.global.u16", Type::B32, 0xffff),
        16 => ("ld.global.u32", Type::B32, 0xffff_ffff),
        _ => ("ld.global.u64", Type::B64, -1),
    };
    let cell = at.reg(ty);
    let bits = ty.bits();
    let mut builder = at.before();
    builder.inst("shr.u64", &[offset.into(), offset.into(), 2.into()]);
    builder.inst("add.u64", &[offset.into(), offset.into(), shadow.into()]);
    builder.inst(&format!("mov.b{bits}"), &[cell.into(), 0.into()]);
    builder.guarded(Guard::when(within), load, &[cell.into(), Operand::RegAddress(offset, 0)]);
    compare(at, "ne", &format!("b{bits}"), cell, Operand::Int(full), None, access.guard)
}

/// Calls the helper where the short check does not pass. Gives a register with a bit for each access that is allowed.
fn look_closely(at: &mut Cursor<'_, '_>, together: &Together, outcome: &Outcome) -> Reg {
    let is_short = together.is_short(at);
    let mut first_site = None;
    for (nth, member) in together.members.iter().enumerate() {
        let bytes = checked_bytes(&member.access).unwrap_or(0);
        let mut what = what(&member.access, bytes, &outcome.bounds, is_short);
        what |= if nth + 1 == together.members.len() { LAST } else { 0 };
        let is_same = |earlier: &Member| {
            earlier.offset == member.offset && checked_bytes(&earlier.access) >= checked_bytes(&member.access)
        };
        what |= if together.members[..nth].iter().any(is_same) { AGAIN } else { 0 };
        what |= (together.bytes as u32 - bytes) << SLACK;
        let word = u64::from(member.offset as u32) << 32 | u64::from(what);
        let site = at.described_site(&member.access, word);
        first_site.get_or_insert(site);
    }
    let site = first_site.expect("there is an access to check");
    let all = if together.members.len() == MOST_TOGETHER { -1 } else { (1 << together.members.len()) - 1 };
    let answers = at.reg(Type::B32);
    at.before().inst("selp.b32", &[answers.into(), Operand::Int(all), 0.into(), outcome.good.into()]);
    let bad = Guard::when(outcome.bad);
    let base = match is_short {
        false => together.base,
        true => {
            // Nobody else asks for it, so it is not computed in lanes that pass.
            let wide = at.reg(Type::B64);
            at.before().inst("mov.b64", &[wide.into(), 0.into()]);
            at.before().guarded(bad, "cvt.s64.s32", &[wide.into(), together.base.into()]);
            wide
        }
    };
    at.call(
        Some(bad),
        "warpgrind_memcheck",
        &[answers.into()],
        &[base.into(), outcome.bounds.low, outcome.bounds.limit, i64::from(site.0).into()],
    );
    answers
}

/// What the helper and reports must know of a piece of a range, alone.
pub(super) fn site_of_piece(at: &mut Cursor<'_, '_>, access: &Access, piece: &Together, bounds: &Bounds) -> SiteId {
    let what = what(access, piece.bytes as u32, bounds, piece.is_short(at)) | LAST;
    at.described_site(access, what.into())
}

/// What the helper and reports must know of an access.
fn what(access: &Access, bytes: u32, bounds: &Bounds, is_short: bool) -> u32 {
    let kind = match access.access.kind {
        AccessKind::Read => 0,
        AccessKind::Write => WRITES,
        AccessKind::ReadWrite => READS_AND_WRITES,
    };
    let space = match access.access.space {
        AccessSpace::State(space) => {
            SPACES.iter().position(|other| *other == space).map_or(0, |index| index as u32 + 1)
        }
        _ => 0,
    };
    let row = if matches!(access.access.bytes, AccessBytes::Rows(_)) { ROW } else { 0 };
    let certain = if bounds.is_certain { CERTAIN } else { 0 };
    let short = if is_short { SHORT } else { 0 };
    bytes | kind | row | space << SPACE | certain | short
}
