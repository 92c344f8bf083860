//! What is inserted into the versions in which twins are in one warp.

use ptx::analysis::{PointerValue, Root};
use ptx::ir::{Guard, Module, Operand, Reg, StmtId, Symbol};
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::types::{Space, Type};
use ptx::view::{AccessKind, AccessSpace, Callee, Order};
use rewrite::{Access, Call, Cursor, Definition, Exit, Sync};
use toolkit::Touched;

use super::exchange::{self, Intent};
use super::layout;
use super::shared;
use super::version::{Layout, Pair, Shared, Work};

/// What is kept of a kernel, or of a function that it calls, for its launches.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// What it may read without telling others, and what it may write; known of kernels only.
    pub(super) touched: Option<[Touched; 2]>,
    /// Bytes of shared memory that its variables have, once.
    pub(super) static_shared: u64,
    /// Whether it does something that must not be done again, or reads what others may have changed meanwhile: atomic
    /// operations, strong loads, prints.
    pub(super) has_side_effects: bool,
    /// Whether barriers say how many threads come.
    pub(super) has_counted_barriers: bool,
    /// Whether the function prints, from its local memory.
    prints: bool,
    /// Variables in which a call that is made once leaves its result.
    results: Vec<Symbol>,
}

/// Where an access is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In memory that both copies have: what is done to it is done once.
    Common,
    /// In memory of the copy.
    Own,
    /// That is known only when it happens.
    Unknown,
}

/// A function begins.
pub(super) fn entry(at: &mut Cursor<'_, '_>, pair: Pair) {
    if at.is_kernel() {
        let editor = at.editor();
        let (module, func) = (editor.module(), editor.func());
        let touched = [Touched::read_weakly(module, func), Touched::written(module, func)];
        at.state::<Kept>().touched = Some(touched);
        if pair.layout == Layout::Linear {
            let is_filler = layout::is_filler(at);
            at.before().guarded(Guard::when(is_filler), "exit", &[]);
        }
        if pair.work == Work::Doubled {
            let second = exchange::is_second(at, pair);
            at.before().guarded(Guard::when(second), "exit", &[]);
        }
    }
    let (bytes, prints) = (shared::static_bytes(at), prints(at));
    let kept = at.state::<Kept>();
    kept.static_shared = bytes;
    kept.prints = prints;
    if pair.shared == Shared::Doubled {
        shared::double(at, pair);
    }
}

/// An access is about to happen.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access, pair: Pair) {
    let place = place(at, access, pair.shared);
    let is_strong = access.access.order != Order::Weak;
    match (place, access.access.kind) {
        (Place::Own, AccessKind::ReadWrite) if is_shared(access) => once_for_both(at, access, pair),
        (Place::Own, AccessKind::Write) if !is_shared(access) && at.state::<Kept>().prints => {
            // It may be an argument of what is printed. Local memory of twins has other addresses.
            let (site, values, guard) = (at.site(access), values(at, access.stmt), at.guard());
            exchange::compare(at, site, &Intent { address: None, values, guard }, pair);
        }
        (Place::Own, _) => {}
        (_, AccessKind::Read) if !is_strong => {}
        _ => once(at, access, pair, place),
    }
}

/// An access that the first of a pair makes, once both agree; what it gives, both get.
fn once(at: &mut Cursor<'_, '_>, access: &Access, pair: Pair, place: Place) {
    let is_in_shared = is_shared(access);
    at.state::<Kept>().has_side_effects |= access.access.kind != AccessKind::Write && !is_in_shared;
    let site = at.site(access);
    let original = at.guard();
    let guard = match place {
        Place::Unknown => {
            let is_common = is_common(at, access, pair.shared);
            at.and_guard(is_common, is_common, original);
            Some(Guard::when(is_common))
        }
        _ => original,
    };
    let address = has_address_in_register(at, access).then(|| at.address(access));
    let values = values(at, access.stmt);
    // A load has nothing to say but where it loads from.
    let same = exchange::compare(at, site, &Intent { address, values, guard }, pair);
    let is_global = access.access.space == AccessSpace::State(Space::Global);
    let orders_memory = pair.is_in_place || (pair.shared == Shared::Common && !is_global);
    if orders_memory && access.access.kind != AccessKind::Read {
        exchange::meet_before(at, pair);
    }
    let first = exchange::is_first(at, pair);
    let mut allowed = at.reg(Type::Pred);
    at.before().inst("and.pred", &[allowed.into(), same.into(), first.into()]);
    match place {
        Place::Unknown => {
            // Memory of the copy is accessed by each, where the program does.
            let [of_copy, either] = [at.reg(Type::Pred), at.reg(Type::Pred)];
            let is_common = guard.expect("there is one").reg;
            at.before().inst("not.pred", &[of_copy.into(), is_common.into()]);
            at.and_guard(allowed, allowed, guard);
            at.and_guard(of_copy, of_copy, original);
            at.before().inst("or.pred", &[either.into(), allowed.into(), of_copy.into()]);
            allowed = either;
        }
        _ => at.and_guard(allowed, allowed, original),
    }
    let results = results(at, access.stmt);
    let receives = (!results.is_empty()).then(|| {
        let (second, receives) = (exchange::is_second(at, pair), at.reg(Type::Pred));
        at.and_guard(receives, second, guard);
        receives
    });
    // Of what is inserted after the instruction, the last comes first.
    if let Some(receives) = receives {
        exchange::hand_over(at, &results, receives, pair);
    }
    at.only_where(allowed);
    if orders_memory {
        exchange::meet_after(at, pair);
    }
}

/// An atomic operation in shared memory that each copy has: both make it, and the second gets what the first got, because
/// threads come in another order to it.
fn once_for_both(at: &mut Cursor<'_, '_>, access: &Access, pair: Pair) {
    let results = results(at, access.stmt);
    if results.is_empty() {
        return;
    }
    let (second, receives, guard) = (exchange::is_second(at, pair), at.reg(Type::Pred), at.guard());
    at.and_guard(receives, second, guard);
    exchange::hand_over(at, &results, receives, pair);
}

/// The thread is about to leave a function.
pub(super) fn exit(at: &mut Cursor<'_, '_>, exit: &Exit, pair: Pair) {
    if exit.ends_thread {
        let (site, guard) = (at.instruction_site(0), at.guard());
        exchange::compare(at, site, &Intent { guard, ..Intent::default() }, pair);
    }
}

/// A call is about to happen.
pub(super) fn call(at: &mut Cursor<'_, '_>, call: &Call, pair: Pair) {
    if is_print(at.editor().module(), call.callee) {
        at.state::<Kept>().has_side_effects = true;
        let (site, guard) = (at.instruction_site(0), at.guard());
        let same = exchange::compare(at, site, &Intent { guard, ..Intent::default() }, pair);
        let (first, allowed) = (exchange::is_first(at, pair), at.reg(Type::Pred));
        at.before().inst("and.pred", &[allowed.into(), same.into(), first.into()]);
        at.and_guard(allowed, allowed, guard);
        let editor = at.editor();
        editor.set_guard(call.stmt, Some(Guard::when(allowed)));
        let view = editor.view(call.stmt).expect("a call");
        let results = match view.operands() {
            [Operand::Arguments(list), _, ..] => view.body.operands(*list).to_vec(),
            _ => Vec::new(),
        };
        let variables = results.into_iter().filter_map(|operand| match operand {
            Operand::Symbol(symbol, _) => Some(symbol),
            _ => None,
        });
        let variables: Vec<Symbol> = variables.collect();
        at.state::<Kept>().results.extend(variables);
    }
}

/// Whether the function calls the one that prints.
fn prints(at: &mut Cursor<'_, '_>) -> bool {
    let editor = at.editor();
    let callees = editor.body().iter().filter_map(|stmt| editor.view(stmt)?.callee());
    callees.into_iter().any(|callee| is_print(editor.module(), callee))
}

fn is_print(module: &Module, callee: Callee) -> bool {
    let Callee::Direct(func) = callee else { return false };
    let function = &module.functions[func];
    function.body.is_none() && module.text(function.name) == "vprintf"
}

/// A synchronisation is about to happen: barriers that tell all threads something of each are compared before.
pub(super) fn sync(at: &mut Cursor<'_, '_>, sync: &Sync, pair: Pair) {
    let Synchronisation::Barrier { count, .. } = sync.kind else { return };
    at.state::<Kept>().has_counted_barriers |= count.is_some();
    if results(at, sync.stmt).is_empty() {
        return;
    }
    let (site, guard, values) = (at.instruction_site(0), at.guard(), values(at, sync.stmt));
    exchange::compare(at, site, &Intent { address: None, values, guard }, pair);
}

/// An instruction has written registers: what it read of the device is handed over if it is another for each thread, and so is
/// the result of a call that is made once.
pub(super) fn definition(at: &mut Cursor<'_, '_>, definition: &Definition, pair: Pair) {
    let once = at.state::<Kept>().results.clone();
    let view = at.editor().view(definition.stmt).expect("an instruction writes registers");
    let is_result = |operand: &Operand| matches!(operand, Operand::SymbolAddress(symbol, _) if once.contains(symbol));
    let is_volatile = |operand: &Operand| matches!(operand, Operand::Special(special) if is_input(*special));
    let is_read = view.operands().iter().any(|operand| match operand {
        Operand::Vector(list) => view.body.operands(*list).iter().any(is_volatile),
        operand => is_volatile(operand) || is_result(operand),
    });
    if !is_read {
        return;
    }
    let (second, receives, guard) = (exchange::is_second(at, pair), at.reg(Type::Pred), at.guard());
    at.and_guard(receives, second, guard);
    exchange::hand_over(at, &definition.regs, receives, pair);
}

/// Whether a special register may be another for each thread, and is not hidden.
pub(super) fn is_input(special: Special) -> bool {
    special.is_volatile() && special != Special::Warpid
}

/// Where an access is, as far as that is known.
fn place(at: &mut Cursor<'_, '_>, access: &Access, shared: Shared) -> Place {
    let of_space = |space: Space| match space {
        Space::Global => Place::Common,
        Space::Shared if shared == Shared::Common => Place::Common,
        _ => Place::Own,
    };
    match (access.access.space, access.pointer) {
        (AccessSpace::State(space), _) => of_space(space),
        (AccessSpace::Generic, PointerValue::Pointer { root, .. }) => match root {
            // What the host passes is memory that all threads have.
            Root::Param { .. } => Place::Common,
            Root::Global(global) => of_space(at.editor().module().globals[global].space),
            Root::Var(var) => of_space(at.editor().function().vars[var].space),
        },
        _ => Place::Unknown,
    }
}

/// The predicate of whether the address of an access is one of memory that both copies have.
fn is_common(at: &mut Cursor<'_, '_>, access: &Access, shared: Shared) -> Reg {
    let (address, is_common) = (at.address(access), at.reg(Type::Pred));
    if shared == Shared::Doubled {
        at.before().inst("isspacep.global", &[is_common.into(), address.into()]);
        return is_common;
    }
    let is_own = at.reg(Type::Pred);
    at.before().inst("isspacep.local", &[is_own.into(), address.into()]);
    at.before().inst("not.pred", &[is_common.into(), is_own.into()]);
    is_common
}

/// Whether the access is in shared memory, by its text.
fn is_shared(access: &Access) -> bool {
    access.access.space == AccessSpace::State(Space::Shared)
}

fn has_address_in_register(at: &mut Cursor<'_, '_>, access: &Access) -> bool {
    let view = at.editor().view(access.stmt).expect("accesses are made by instructions");
    matches!(view.operands()[access.access.address], Operand::RegAddress(..))
}

/// The registers with values that an instruction reads, without those of addresses and its guard.
fn values(at: &mut Cursor<'_, '_>, stmt: StmtId) -> Vec<Reg> {
    let view = at.editor().view(stmt).expect("an instruction");
    let mut regs = Vec::new();
    for (operand, spec) in view.matched_operands().unwrap_or_default() {
        if !spec.read || operand.is_address() {
            continue;
        }
        match *operand {
            Operand::Reg(reg) | Operand::Not(reg) => regs.push(reg),
            Operand::Vector(list) => regs.extend(view.body.operands(list).iter().filter_map(|part| match part {
                Operand::Reg(reg) => Some(*reg),
                _ => None,
            })),
            _ => {}
        }
    }
    regs.dedup();
    regs
}

/// The registers that an instruction writes.
fn results(at: &mut Cursor<'_, '_>, stmt: StmtId) -> Vec<Reg> {
    let mut regs = at.editor().view(stmt).map(|view| view.writes().to_vec()).unwrap_or_default();
    regs.dedup();
    regs
}
