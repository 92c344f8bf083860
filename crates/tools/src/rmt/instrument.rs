//! What is inserted into the versions in which every thread has a twin.

use ptx::analysis::{PointerValue, Root};
use ptx::ir::{Guard, Module, Operand, Reg, StmtId, Symbol};
use ptx::ops::Op;
use ptx::special::Special;
use ptx::synchronisation::Synchronisation;
use ptx::types::{Space, Type};
use ptx::view::{AccessKind, AccessSpace, Callee, Order};
use rewrite::{Access, Call, Cursor, Definition, Exit, Sync};
use rustc_hash::FxHashSet;
use toolkit::Touched;

use super::TOOL;
use super::copies;
use super::exchange::{self, Intent};
use super::kept::Kept;
use super::layout;
use super::log::{self, Publish};
use super::pace::Pace;
use super::shared;
use super::version::{Layout, Pair, Shared, Work};

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
        let touched = [Touched::read_weakly(module, func), Touched::written_by_others(module, func, TOOL)];
        let pace = Pace::of(module, &module.functions[func], pair);
        let kept = at.state::<Kept>();
        kept.touched = Some(touched);
        kept.pace = pace;
        if pair.layout == Layout::Linear {
            let is_filler = layout::is_filler(at);
            at.before().guarded(Guard::when(is_filler), "exit", &[]);
        }
        if pair.has_log() && pair.work != Work::Doubled {
            log::begin(at, pair);
        }
        if pair.work == Work::Doubled {
            let second = copies::is_second(at, pair);
            at.before().guarded(Guard::when(second), "exit", &[]);
        }
    }
    let (bytes, prints, read) = (shared::static_bytes(at), prints(at), read(at));
    let kept = at.state::<Kept>();
    kept.read = read;
    kept.static_shared = bytes;
    kept.prints = prints;
    if pair.doubles_shared() {
        shared::double(at, pair);
    }
}

/// The first copy of a log waits until all that was compared is done, if something may have been.
fn wait_for_commit(at: &mut Cursor<'_, '_>, stmt: StmtId, pair: Pair) {
    if pair.has_log() && pair.is_in_place && at.state::<Kept>().pace.is_after_writes(stmt) {
        exchange::wait_for_commit(at, pair);
    }
}

/// An access is about to happen.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access, pair: Pair) {
    let place = place(at, access, pair.shared);
    let is_strong = access.access.order != Order::Weak;
    let is_read = access.access.kind == AccessKind::Read;
    // What a thread writes where only its copy sees it may tell others of the copy that it has written something before.
    if (place == Place::Own && is_strong && !is_read) || (place != Place::Own && is_read) {
        wait_for_commit(at, access.stmt, pair);
    }
    at.state::<Kept>().has_strong_loads |= place != Place::Own && is_read && is_strong;
    match (place, access.access.kind) {
        (Place::Own, AccessKind::ReadWrite) if is_shared(access) => once_for_both(at, access, pair),
        (Place::Own, AccessKind::Write) if !is_shared(access) && at.state::<Kept>().prints => {
            // It may be an argument of what is printed. Local memory of twins has other addresses.
            let (site, values, guard) = (at.site(access), values(at, access.stmt), at.guard());
            exchange::compare(at, site, &Intent { values, guard, ..Intent::default() }, pair);
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
    let is_read = access.access.kind == AccessKind::Read;
    let publish = if pair.is_in_place && !is_read { Publish::Later } else { Publish::Now };
    let same = exchange::compare(at, site, &Intent { address, values, guard, publish }, pair);
    let is_global = access.access.space == AccessSpace::State(Space::Global);
    let orders_memory = pair.is_in_place || (pair.shared == Shared::Common && !is_global);
    if orders_memory && !is_read {
        exchange::meet_before(at, pair);
    }
    // Who writes a log can hand over what it loads, and need not wait.
    let doer = if is_read { copies::is_first(at, pair) } else { copies::is_doer(at, pair) };
    let mut allowed = at.reg(Type::Pred);
    at.before().inst("and.pred", &[allowed.into(), same.into(), doer.into()]);
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
    let results = read_results(at, access.stmt);
    // Of what is inserted after the instruction, the last comes first.
    if !results.is_empty() {
        give_results(at, &results, guard, is_read, pair);
    }
    at.only_where(allowed);
    if orders_memory && !(is_read && pair.has_log()) {
        exchange::meet_after(at, pair);
    }
}

/// Gives what one copy has to the other, after the instruction: what the first has read, or what the one that does things once has
/// got.
fn give_results(at: &mut Cursor<'_, '_>, regs: &[Reg], guard: Option<Guard>, is_read: bool, pair: Pair) {
    let receives = at.reg(Type::Pred);
    if is_read || !pair.has_log() {
        let second = copies::is_second(at, pair);
        at.and_guard(receives, second, guard);
        exchange::hand_over(at, regs, receives, pair);
    } else {
        let first = copies::is_first(at, pair);
        at.and_guard(receives, first, guard);
        exchange::hand_results(at, regs, receives, pair);
    }
}

/// An atomic operation in shared memory that each copy has: both make it, and the second gets what the first got, because
/// threads come in another order to it.
fn once_for_both(at: &mut Cursor<'_, '_>, access: &Access, pair: Pair) {
    let results = read_results(at, access.stmt);
    if results.is_empty() {
        return;
    }
    let guard = at.guard();
    give_results(at, &results, guard, true, pair);
}

/// The thread is about to leave a function.
pub(super) fn exit(at: &mut Cursor<'_, '_>, exit: &Exit, pair: Pair) {
    if exit.ends_thread {
        let (site, guard) = (at.instruction_site(0), at.guard());
        let intent = Intent { guard, publish: Publish::Last(guard), ..Intent::default() };
        // The next blocks have the log once both copies have ended, whatever is compared.
        let work = if pair.layout == Layout::Blocks { Work::All } else { pair.work };
        let same = exchange::compare(at, site, &intent, Pair { work, ..pair });
        if pair.has_log() {
            log::end(at, pair, guard, same);
        }
    }
}

/// A call is about to happen.
pub(super) fn call(at: &mut Cursor<'_, '_>, call: &Call, pair: Pair) {
    if is_print(at.editor().module(), call.callee) {
        at.state::<Kept>().has_side_effects = true;
        let (site, guard) = (at.instruction_site(0), at.guard());
        let same = exchange::compare(at, site, &Intent { guard, ..Intent::default() }, pair);
        let (doer, allowed) = (copies::is_doer(at, pair), at.reg(Type::Pred));
        at.before().inst("and.pred", &[allowed.into(), same.into(), doer.into()]);
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

/// The registers that instructions of the function read.
fn read(at: &mut Cursor<'_, '_>) -> FxHashSet<Reg> {
    let editor = at.editor();
    let views = editor.body().iter().filter_map(|stmt| editor.view(stmt));
    let guards = views.clone().filter_map(|view| view.inst.guard).map(|guard| guard.reg);
    views.flat_map(|view| view.reads()).chain(guards).collect()
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
    let tells_others = match sync.kind {
        // Both copies of all threads come to it.
        Synchronisation::Barrier { .. } => pair.layout == Layout::Blocks,
        Synchronisation::WarpBarrier { .. } | Synchronisation::Fence { .. } | Synchronisation::Mbarrier => true,
        _ => false,
    };
    if tells_others {
        wait_for_commit(at, sync.stmt, pair);
    }
    let Synchronisation::Barrier { count, .. } = sync.kind else { return };
    at.state::<Kept>().has_counted_barriers |= count.is_some();
    // Blocks have votes of their own.
    if results(at, sync.stmt).is_empty() || pair.layout == Layout::Blocks {
        return;
    }
    let (site, guard, values) = (at.instruction_site(0), at.guard(), values(at, sync.stmt));
    exchange::compare(at, site, &Intent { values, guard, ..Intent::default() }, pair);
}

/// An instruction has written registers: what it read of the device is handed over if it is another for each thread, and so is
/// the result of a call that is made once.
pub(super) fn definition(at: &mut Cursor<'_, '_>, definition: &Definition, pair: Pair) {
    let once = at.state::<Kept>().results.clone();
    let view = at.editor().view(definition.stmt).expect("an instruction writes registers");
    let is_result = |operand: &Operand| matches!(operand, Operand::SymbolAddress(symbol, _) if once.contains(symbol));
    let is_volatile = |operand: &Operand| matches!(operand, Operand::Special(special) if is_input(*special));
    let is_input = view.op() == Some(Op::Activemask)
        || view.operands().iter().any(|operand| match operand {
            Operand::Vector(list) => view.body.operands(*list).iter().any(is_volatile),
            operand => is_volatile(operand),
        });
    if is_input || view.operands().iter().any(is_result) {
        let guard = at.guard();
        give_results(at, &definition.regs, guard, is_input, pair);
    }
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
            Operand::Vector(list) => regs.extend(view.body.operands(list).iter().filter_map(|part| part.as_reg())),
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

/// Those of them that somebody reads.
fn read_results(at: &mut Cursor<'_, '_>, stmt: StmtId) -> Vec<Reg> {
    let mut regs = results(at, stmt);
    let read = &at.state::<Kept>().read;
    regs.retain(|reg| read.contains(reg));
    regs
}
