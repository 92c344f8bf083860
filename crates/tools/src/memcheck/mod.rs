//! Finds accesses to memory that the program does not have.
//!
//! Every access gets a short check, and takes place only where the check holds. Which check it is depends on what is
//! known of the pointer ([`ptx::analysis::Provenance`]):
//!
//! - a pointer made from a parameter of the kernel must stay in the object that the parameter points into, which the
//!   launch looks up: one subtraction and one comparison, no memory is touched;
//! - a pointer made from a variable must stay in the variable, whose size is in the text;
//! - any other pointer must point to memory whose shadow says that it is there.
//!
//! An access that does not pass calls `warpgrind_memcheck` (`device.ptx`), which looks closely, and records it if there is
//! no excuse. So a jump from one live object into another is found, if the pointer is made from a parameter or variable.

mod findings;

use ptx::analysis::{PointerValue, Root};
use ptx::ir::{Guard, Operand, Reg, Symbol, Variable};
use ptx::types::{Linkage, Space, Type};
use ptx::view::{AccessBytes, AccessKind, AccessSpace};
use rewrite::context::{MOST_BYTES, Word};
use rewrite::{Access, Cursor, Tool};

pub use findings::{BadAccess, EXPLANATIONS, Memory, Object};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Memcheck;

/// The access writes.
const WRITES: u32 = 1 << 8;
/// The access reads and writes in one step.
const ATOMIC: u32 = 1 << 9;
/// Where in `what` the space is: 0 for generic addresses, else [`SPACES`].
const SPACE: u32 = 12;
/// The check was against bounds that are known for certain.
const CERTAIN: u32 = 1 << 16;

/// The spaces that `what` tells apart, from 1 on.
const SPACES: [Space; 4] = [Space::Global, Space::Shared, Space::Local, Space::Const];

impl Tool for Memcheck {
    fn name(&self) -> &'static str {
        "memcheck"
    }

    fn device_code(&self) -> Option<&'static str> {
        Some(include_str!("device.ptx"))
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        // Another tool may have changed under which condition the access takes place.
        let is_unchanged = at.guard() == access.guard;
        let access = &Access { guard: at.guard(), ..*access };
        if let Some(allowed) = at.found_before(access).filter(|_| is_unchanged) {
            if let Some(allowed) = allowed.filter(|_| !access.is_collective) {
                at.only_where(allowed);
            }
            return;
        }
        let AccessBytes::Fixed(bytes) = access.access.bytes else { return };
        if bytes == 0 || bytes > MOST_BYTES || !bytes.is_power_of_two() {
            return;
        }
        let allowed = check(at, access, bytes);
        if access.index == 0 {
            at.keep_found(access, allowed);
        }
        if let Some(allowed) = allowed.filter(|_| !access.is_collective) {
            at.only_where(allowed);
        }
    }
}

/// What a check is made against.
enum Against {
    /// Nothing: it is certain that the access is good.
    Nothing,
    /// The object that a parameter points into.
    Slot([Reg; 2]),
    /// A variable of so many bytes.
    Variable(Symbol, Space, u64),
    /// The shared memory whose size is given at launch.
    DynamicShared(Symbol),
    /// All shared memory.
    Shared,
    /// The shadow.
    Shadow,
}

/// Inserts the check of an access. Gives the predicate that allows it; nothing if it needs none.
fn check(at: &mut Cursor<'_, '_>, access: &Access, bytes: u32) -> Option<Reg> {
    let is_aligned = matches!(access.pointer, PointerValue::Pointer { align, .. } if 1 << align >= bytes);
    let against = against(at, access, bytes, is_aligned);
    if matches!(against, Against::Nothing) && is_aligned {
        return None;
    }
    let address = at.address(access);
    let misaligned = (!is_aligned).then(|| misaligned(at, address, bytes)).flatten();
    match against {
        Against::Nothing => {
            // Only the alignment is in question.
            let verdict = under_guard(at, misaligned?, access.guard);
            Some(refuse(at, access, address, None, bytes, verdict))
        }
        Against::Slot([low, size]) => {
            let limit = at.at_entry("sub.u64", Type::B64, &[size.into(), i64::from(bytes).into()]);
            let distance = at.reg(Type::B64);
            at.before().inst("sub.u64", &[distance.into(), address.into(), low.into()]);
            let [bad, good] = compare(at, "gt", "u64", distance, limit.into(), misaligned, access.guard);
            Some(look_closely(at, access, address, low.into(), bytes, 0, [bad, good]))
        }
        Against::Variable(symbol, space, size) => {
            let bits = at.editor().function().reg_type(address).bits();
            let low = address_of(at, symbol, space, access.access.space, bits);
            let distance = difference(at, address, low, bits);
            let limit = size.saturating_sub(bytes.into());
            // What is larger than the variable is never within it.
            let relation = if size < u64::from(bytes) { "ge" } else { "gt" };
            let limit = Operand::Int(if relation == "ge" { 0 } else { limit as i64 });
            let [bad, good] = compare(
                at,
                relation,
                if bits == 32 { "u32" } else { "u64" },
                distance,
                limit,
                misaligned,
                access.guard,
            );
            Some(refuse(at, access, address, Some(low), bytes, [bad, good]))
        }
        Against::DynamicShared(symbol) => {
            let size = at.at_entry("mov.u32", Type::B32, &[Operand::Special(ptx::special::Special::DynamicSmemSize)]);
            let bits = at.editor().function().reg_type(address).bits();
            let low = address_of(at, symbol, Space::Shared, access.access.space, bits);
            let distance = difference(at, address, low, bits);
            let end = at.reg(Type::B64);
            let wide = widened(at, distance);
            // In 64 bits nothing wraps that is in bounds.
            at.before().inst("add.u64", &[end.into(), wide.into(), i64::from(bytes).into()]);
            let limit = at.at_entry("cvt.u64.u32", Type::B64, &[size.into()]);
            let wraps = (bits == 64).then(|| {
                let wraps = at.reg(Type::Pred);
                at.before().inst("setp.lt.u64", &[wraps.into(), end.into(), i64::from(bytes).into()]);
                wraps
            });
            let also = match (misaligned, wraps) {
                (Some(one), Some(other)) => {
                    at.before().inst("or.pred", &[one.into(), one.into(), other.into()]);
                    Some(one)
                }
                (one, other) => one.or(other),
            };
            let [bad, good] = compare(at, "gt", "u64", end, limit.into(), also, access.guard);
            Some(refuse(at, access, address, Some(low), bytes, [bad, good]))
        }
        Against::Shared => {
            let total = at.at_entry("mov.u32", Type::B32, &[Operand::Special(ptx::special::Special::TotalSmemSize)]);
            let limit = at.at_entry("cvt.u64.u32", Type::B64, &[total.into()]);
            let wide = widened(at, address);
            let end = at.reg(Type::B64);
            at.before().inst("add.u64", &[end.into(), wide.into(), i64::from(bytes).into()]);
            let [bad, good] = compare(at, "gt", "u64", end, limit.into(), misaligned, access.guard);
            Some(refuse(at, access, address, None, bytes, [bad, good]))
        }
        Against::Shadow => {
            let [bad, good] = look_at_shadow(at, access, address, bytes, misaligned);
            Some(look_closely(at, access, address, Operand::Int(0), bytes, 0, [bad, good]))
        }
    }
}

fn against(at: &mut Cursor<'_, '_>, access: &Access, bytes: u32, is_aligned: bool) -> Against {
    let space = access.access.space;
    let root = match access.pointer {
        PointerValue::Pointer { root, .. } => Some(root),
        _ => None,
    };
    let variable = match root {
        Some(Root::Global(global)) => Some((Symbol::Global(global), at.editor().module().globals[global].clone())),
        Some(Root::Var(var)) => Some((Symbol::Var(var), at.editor().function().vars[var].clone())),
        Some(Root::Param { var, offset, .. })
            if matches!(space, AccessSpace::Generic | AccessSpace::State(Space::Global)) =>
        {
            // Where offsets are multiples of the size, the pointer only has to be one.
            let align = if is_aligned { bytes } else { 1 };
            if at.is_kernel()
                && is_long(at, access)
                && let Some(bounds) = at.bounds(var, offset, align)
            {
                return Against::Slot(bounds);
            }
            None
        }
        _ => None,
    };
    if let Some((symbol, variable)) = variable {
        // Whoever takes the address of a shared variable for one of global memory gets a check of what is there.
        let fits = match space {
            AccessSpace::Generic => {
                matches!(variable.space, Space::Global | Space::Const | Space::Shared | Space::Local)
            }
            AccessSpace::State(space) => space == variable.space,
            _ => false,
        };
        if fits {
            return of_variable(at, access, symbol, &variable, bytes);
        }
    }
    match space {
        AccessSpace::State(Space::Shared) => Against::Shared,
        AccessSpace::State(Space::Local) => Against::Nothing,
        _ if is_long(at, access) => Against::Shadow,
        // Instructions that name no space and have such an address access shared memory.
        AccessSpace::Generic => Against::Shared,
        _ => Against::Nothing,
    }
}

/// Whether an address is one of 64 bits, and not an offset in a window.
fn is_long(at: &mut Cursor<'_, '_>, access: &Access) -> bool {
    let operand = at.editor().view(access.stmt).map(|view| view.operands()[access.access.address]);
    !matches!(operand, Some(Operand::RegAddress(reg, _)) if at.editor().function().reg_type(reg).bits() == 32)
}

fn of_variable(at: &mut Cursor<'_, '_>, access: &Access, symbol: Symbol, variable: &Variable, bytes: u32) -> Against {
    // The variable of another module may be larger than the declaration says.
    let Some(size) = variable.size().filter(|_| variable.linkage != Some(Linkage::Extern)) else {
        return if variable.space == Space::Shared { Against::DynamicShared(symbol) } else { Against::Shadow };
    };
    let view = at.editor().view(access.stmt).expect("accesses are made by instructions");
    if let Operand::SymbolAddress(_, offset) = view.operands()[access.access.address]
        && u64::try_from(offset).is_ok_and(|offset| offset + u64::from(bytes) <= size)
    {
        return Against::Nothing;
    }
    Against::Variable(symbol, variable.space, size)
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

fn difference(at: &mut Cursor<'_, '_>, address: Reg, low: Reg, bits: u32) -> Reg {
    let distance = at.reg(if bits == 32 { Type::B32 } else { Type::B64 });
    at.before().inst(&format!("sub.u{bits}"), &[distance.into(), address.into(), low.into()]);
    distance
}

fn widened(at: &mut Cursor<'_, '_>, reg: Reg) -> Reg {
    if at.editor().function().reg_type(reg).bits() == 64 {
        return reg;
    }
    let wide = at.reg(Type::B64);
    at.before().inst("cvt.u64.u32", &[wide.into(), reg.into()]);
    wide
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
fn compare(
    at: &mut Cursor<'_, '_>,
    relation: &str,
    ty: &str,
    value: Reg,
    limit: Operand,
    also_bad: Option<Reg>,
    guard: Option<Guard>,
) -> [Reg; 2] {
    if let Some(also) = also_bad {
        let one = at.reg(Type::Pred);
        let spelling = format!("setp.{relation}.or.{ty}");
        at.before().inst(&spelling, &[one.into(), value.into(), limit, also.into()]);
        return under_guard(at, one, guard);
    }
    let [bad, good] = [at.reg(Type::Pred), at.reg(Type::Pred)];
    let pair = Operand::Pair(bad.into(), good.into());
    match guard {
        None => {
            at.before().inst(&format!("setp.{relation}.{ty}"), &[pair, value.into(), limit]);
        }
        Some(guard) => {
            let holds = if guard.negated { Operand::Not(guard.reg) } else { Operand::Reg(guard.reg) };
            at.before().inst(&format!("setp.{relation}.and.{ty}"), &[pair, value.into(), limit, holds]);
        }
    }
    [bad, good]
}

/// Where the guard of an access holds and it is bad, and where it holds and it is good.
fn under_guard(at: &mut Cursor<'_, '_>, is_bad: Reg, guard: Option<Guard>) -> [Reg; 2] {
    let [bad, good] = [at.reg(Type::Pred), at.reg(Type::Pred)];
    at.before().inst("not.pred", &[good.into(), is_bad.into()]);
    at.and_guard(bad, is_bad, guard);
    if guard.is_some() {
        at.and_guard(good, good, guard);
    }
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
    let [arena, size, shadow] = [at.word(Word::Arena), at.word(Word::ArenaBytes), at.word(Word::Shadow)];
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

/// Calls the helper where the short check does not pass. Gives where the access is allowed.
///
/// Across the call, the answer is a number: NVIDIA's assembler has few predicates, and fails if too many live at a call.
fn look_closely(
    at: &mut Cursor<'_, '_>,
    access: &Access,
    address: Reg,
    low: Operand,
    bytes: u32,
    more: u32,
    [bad, good]: [Reg; 2],
) -> Reg {
    let (answer, allowed) = (at.reg(Type::B32), at.reg(Type::Pred));
    at.before().inst("selp.b32", &[answer.into(), 1.into(), 0.into(), good.into()]);
    call(at, access, address, low, bytes, bad, answer, more);
    at.before().inst("setp.ne.b32", &[allowed.into(), answer.into(), 0.into()]);
    allowed
}

/// Calls the helper where an access is certainly bad. Gives where it is allowed.
fn refuse(
    at: &mut Cursor<'_, '_>,
    access: &Access,
    address: Reg,
    low: Option<Reg>,
    bytes: u32,
    verdict: [Reg; 2],
) -> Reg {
    let low = low.map_or(Operand::Int(0), |low| widened(at, low).into());
    look_closely(at, access, address, low, bytes, CERTAIN, verdict)
}

#[expect(clippy::too_many_arguments, reason = "they are the arguments of the helper")]
fn call(
    at: &mut Cursor<'_, '_>,
    access: &Access,
    address: Reg,
    low: Operand,
    bytes: u32,
    bad: Reg,
    answer: Reg,
    more: u32,
) {
    let site = at.site(access);
    let kind = match access.access.kind {
        AccessKind::Read => 0,
        AccessKind::Write => WRITES,
        AccessKind::ReadWrite => ATOMIC,
    };
    let space = match access.access.space {
        AccessSpace::State(space) => {
            SPACES.iter().position(|other| *other == space).map_or(0, |index| index as u32 + 1)
        }
        _ => 0,
    };
    let what = bytes | kind | space << SPACE | more;
    let address = widened(at, address);
    at.call(
        Some(Guard::when(bad)),
        "warpgrind_memcheck",
        &[answer.into()],
        &[address.into(), low, i64::from(site.0).into(), i64::from(what).into()],
    );
}
