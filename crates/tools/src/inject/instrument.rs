//! What is inserted into kernels.
//!
//! A thread knows when it begins whether it is armed: its number, less that of the first armed one, is below how many are. Where
//! a fault could strike, an armed thread calls a helper, which counts, and changes the value when its moment has come. All calls
//! of a basic block are under one comparison, so that devices that run lanes in step only look once whether any is armed.

use ptx::entity::Id;
use ptx::ir::{Guard, Operand, Reg, Stmt, StmtId};
use ptx::ops::{Effect, Op};
use ptx::special::Special;
use ptx::types::{Space, Type, TypeKind};
use ptx::view::{AccessKind, View};
use rewrite::{Access, Branch, Call, Cursor, Definition, Exit};

use super::kept::Kept;
use super::lanes;
use super::model::Stratum;
use super::register::{Kind, register_number};
use super::version::{INSERTED, LANES, OPERANDS, PREDICATES, PROFILE, REGISTERS, RESULTS, SKIP};
use super::{ARMED, ARMS, FIRST, tool_memory};

/// A function begins.
pub(super) fn entry(at: &mut Cursor<'_, '_>) {
    let mut kept = Kept::default();
    let version = at.version();
    let editor = at.editor();
    let mut block = 0;
    for id in editor.body().iter() {
        let view = editor.view(id);
        block += u32::from(matches!(editor.body().stmt(id), Stmt::Label(_)));
        kept.blocks.insert(id, block);
        let Some(view) = view else { continue };
        block += u32::from(ends_block(&view));
        if editor.body().origin(id).tag.is_none() {
            view.for_each_write(|reg| _ = kept.registers.insert(reg));
        }
    }
    let module = editor.module();
    if matches!(version, PROFILE | INSERTED) {
        kept.addresses = tool_memory::addresses(module, editor.function(), editor.body());
    }
    // The original has them also where a tool has replaced them in this version. It comes before its versions.
    for function in module.functions.values() {
        let Some(body) = &function.body else { continue };
        for (id, inst) in body.insts().filter(|(id, _)| body.origin(*id).tag.is_none()) {
            let origin = body.origin(id).id;
            kept.guards.entry(origin).or_insert(inst.guard);
            if View::of(&module.forms, body, id).is_some_and(|view| reads_id(&view)) {
                kept.ids.insert(origin);
            }
        }
    }
    if at.version() == PROFILE {
        for _ in Stratum::ALL {
            let count = at.reg(Type::B32);
            at.before().inst("mov.u32", &[count.into(), Operand::Int(0)]);
            kept.counts.push(count);
        }
    }
    *at.state::<Kept>() = kept;
}

fn ends_block(view: &View<'_>) -> bool {
    matches!(view.effect(), Some(Effect::Branch | Effect::Return | Effect::Exit | Effect::Call | Effect::Trap))
}

fn reads_id(view: &View<'_>) -> bool {
    let is_id = |operand: &Operand| match operand {
        Operand::Special(special) => !special.is_volatile(),
        _ => false,
    };
    view.operands().iter().any(is_id)
}

/// The number of the thread in its launch, as the device has it.
fn thread(at: &mut Cursor<'_, '_>) -> Reg {
    let [tid_x, tid_y, tid_z, ntid_x, ntid_y] =
        [Special::TidX, Special::TidY, Special::TidZ, Special::NtidX, Special::NtidY]
            .map(|special| at.at_entry("mov.u32", Type::B32, &[special.into()]));
    let [ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y] =
        [Special::CtaidX, Special::CtaidY, Special::CtaidZ, Special::NctaidX, Special::NctaidY]
            .map(|special| at.at_entry("mov.u32", Type::B32, &[special.into()]));
    let row = at.at_entry("mad.lo.u32", Type::B32, &[tid_z.into(), ntid_y.into(), tid_y.into()]);
    let in_block = at.at_entry("mad.lo.u32", Type::B32, &[row.into(), ntid_x.into(), tid_x.into()]);
    let in_block = at.at_entry("cvt.u64.u32", Type::B64, &[in_block.into()]);
    let row = at.at_entry("mad.lo.u32", Type::B32, &[ctaid_z.into(), nctaid_y.into(), ctaid_y.into()]);
    let block = at.at_entry("mad.lo.u32", Type::B32, &[row.into(), nctaid_x.into(), ctaid_x.into()]);
    let threads = threads_of_block(at);
    at.at_entry("mad.wide.u32", Type::B64, &[block.into(), threads.into(), in_block.into()])
}

/// How many threads its block has, as the device has it.
fn threads_of_block(at: &mut Cursor<'_, '_>) -> Reg {
    let [x, y, z] = [Special::NtidX, Special::NtidY, Special::NtidZ]
        .map(|special| at.at_entry("mov.u32", Type::B32, &[special.into()]));
    let plane = at.at_entry("mul.lo.u32", Type::B32, &[x.into(), y.into()]);
    at.at_entry("mul.lo.u32", Type::B32, &[plane.into(), z.into()])
}

/// Its number in the launch of the program, of which 32 bits are told.
fn program_thread(at: &mut Cursor<'_, '_>) -> Reg {
    let [x, y, z, width, height, depth] =
        [Special::TidX, Special::TidY, Special::TidZ, Special::NtidX, Special::NtidY, Special::NtidZ]
            .map(|special| at.special(special));
    let [block_x, block_y, block_z, blocks_x, blocks_y] =
        [Special::CtaidX, Special::CtaidY, Special::CtaidZ, Special::NctaidX, Special::NctaidY]
            .map(|special| at.special(special));
    let [thread, block] = [at.reg(Type::B32), at.reg(Type::B32)];
    let mut code = at.before();
    code.inst("mad.lo.u32", &[thread.into(), z.into(), height.into(), y.into()]);
    code.inst("mad.lo.u32", &[thread.into(), thread.into(), width.into(), x.into()]);
    code.inst("mad.lo.u32", &[block.into(), block_z.into(), blocks_y.into(), block_y.into()]);
    code.inst("mad.lo.u32", &[block.into(), block.into(), blocks_x.into(), block_x.into()]);
    code.inst("mul.lo.u32", &[block.into(), block.into(), width.into()]);
    code.inst("mul.lo.u32", &[block.into(), block.into(), height.into()]);
    code.inst("mad.lo.u32", &[thread.into(), block.into(), depth.into(), thread.into()]);
    thread
}

/// Whether an instruction is the program's own.
fn is_own(at: &mut Cursor<'_, '_>, stmt: StmtId) -> bool {
    at.editor().body().origin(stmt).tag.is_none()
}

/// An instruction has written registers.
pub(super) fn definition(at: &mut Cursor<'_, '_>, definition: &Definition) {
    let Definition { stmt, regs, guard } = definition;
    if at.version() == REGISTERS {
        return registers(at, *stmt, *guard);
    }
    let origin = at.editor().body().origin(*stmt).id;
    let is_id = at.state::<Kept>().ids.contains(&origin);
    match at.version() {
        PROFILE => {
            if !is_own(at, *stmt) {
                let places = inserted(at, regs).len();
                return count(at, Stratum::Inserted, places, *guard);
            }
            let kinds: Vec<_> = regs.iter().filter_map(|&reg| Kind::of(at, reg)).collect();
            let predicates = kinds.iter().filter(|kind| **kind == Kind::Predicate).count();
            let results = kinds.len() - predicates;
            count(at, Stratum::Results, results, *guard);
            count(at, Stratum::Predicates, predicates, *guard);
            count(at, Stratum::Ids, if is_id { results } else { 0 }, *guard);
            count_instruction(at, *stmt);
        }
        INSERTED if !is_own(at, *stmt) => {
            let hit = inserted(at, regs);
            strike_results(at, definition, hit, Stratum::Inserted.bit());
        }
        RESULTS | PREDICATES if is_own(at, *stmt) => {
            let strata = match at.version() {
                PREDICATES => Stratum::Predicates.bit(),
                _ if is_id => Stratum::Results.bit() | Stratum::Ids.bit(),
                _ => Stratum::Results.bit(),
            };
            let wants_predicates = at.version() == PREDICATES;
            let hit: Vec<_> = regs
                .iter()
                .filter_map(|&reg| Some((reg, Kind::of(at, reg)?)))
                .filter(|(_, kind)| (*kind == Kind::Predicate) == wants_predicates)
                .collect();
            strike_results(at, definition, hit, strata);
        }
        SKIP if is_own(at, *stmt) => skip(at, *stmt, *guard),
        LANES if is_own(at, *stmt) => lanes::definition(at, definition),
        _ => {}
    }
}

/// The registers of an instruction that another tool inserted in which a fault may strike.
fn inserted(at: &mut Cursor<'_, '_>, regs: &[Reg]) -> Vec<(Reg, Kind)> {
    let struck: Vec<Reg> = regs.iter().copied().filter(|reg| !at.state::<Kept>().addresses.contains(reg)).collect();
    let kinds = struck.into_iter().filter_map(|reg| Some((reg, Kind::of(at, reg)?)));
    kinds.filter(|(_, kind)| *kind != Kind::Predicate).collect()
}

/// Registers may be struck that an instruction has written.
fn strike_results(at: &mut Cursor<'_, '_>, definition: &Definition, hit: Vec<(Reg, Kind)>, strata: u32) {
    if hit.is_empty() {
        return;
    }
    let (armed, is_executed) = (ask(at, definition.stmt), is_executed(at, definition.guard));
    // What is inserted first comes last, so the first register is the first to be struck.
    for (reg, kind) in hit.into_iter().rev() {
        let site = at.instruction_site(0).0;
        let arm = arm(at);
        let arguments =
            [is_executed, site.into_operand(), kind.size().into_operand(), strata.into_operand(), arm.into()];
        strike(at, Place::After, armed, reg, kind, "warpgrind_inject", &arguments);
    }
}

/// An access is about to happen.
pub(super) fn access(at: &mut Cursor<'_, '_>, access: &Access) {
    if at.version() == REGISTERS {
        if access.index == 0 && has_no_result(at, access.stmt) {
            registers(at, access.stmt, access.guard);
        }
        return;
    }
    if !is_own(at, access.stmt) {
        return;
    }
    let (address, stored) = operands(at, access);
    match at.version() {
        PROFILE => {
            count(at, Stratum::Addresses, usize::from(address.is_some()), access.guard);
            count(at, Stratum::Stores, stored.len(), access.guard);
            if access.index == 0 && has_no_result(at, access.stmt) {
                count_instruction(at, access.stmt);
            }
        }
        SKIP if access.index == 0 && has_no_result(at, access.stmt) => skip(at, access.stmt, access.guard),
        OPERANDS => {
            if address.is_none() && stored.is_empty() {
                return;
            }
            let (armed, is_executed) = (ask(at, access.stmt), is_executed(at, access.guard));
            if let Some((reg, offset, kind)) = address {
                let copy = struck_copy(at, armed, reg, kind, is_executed, Stratum::Addresses);
                at.editor().set_operand(access.stmt, access.access.address, Operand::RegAddress(copy, offset));
            }
            let copies: Vec<Option<Reg>> = stored
                .iter()
                .map(|stored| {
                    let (reg, kind) = (*stored)?;
                    Some(struck_copy(at, armed, reg, kind, is_executed, Stratum::Stores))
                })
                .collect();
            replace_stored(at, access.stmt, &copies);
        }
        _ => {}
    }
}

/// A branch is about to happen that only some threads may take.
pub(super) fn branch(at: &mut Cursor<'_, '_>, branch: &Branch) {
    if at.version() == REGISTERS {
        return registers(at, branch.stmt, Some(branch.guard));
    }
    if !is_own(at, branch.stmt) {
        return;
    }
    match at.version() {
        PROFILE => count_instruction(at, branch.stmt),
        SKIP => skip(at, branch.stmt, Some(branch.guard)),
        _ => {}
    }
}

/// A function is about to be called: it counts for itself, and may end the thread.
pub(super) fn call(at: &mut Cursor<'_, '_>, call: &Call) {
    if at.version() == PROFILE && is_own(at, call.stmt) {
        tell_counts(at, call.guard);
        for count in at.state::<Kept>().counts.clone() {
            at.before().inst_if(call.guard, "mov.u32", &[count.into(), Operand::Int(0)]);
        }
    }
}

/// The function is about to be left.
pub(super) fn exit(at: &mut Cursor<'_, '_>, exit: &Exit) {
    if at.version() == PROFILE && is_own(at, exit.stmt) {
        tell_counts(at, exit.guard);
    }
}

fn tell_counts(at: &mut Cursor<'_, '_>, guard: Option<Guard>) {
    let mut arguments: Vec<Operand> = at.state::<Kept>().counts.iter().map(|&count| count.into()).collect();
    arguments.push(thread(at).into());
    arguments.push(program_thread(at).into());
    arguments.push(threads_of_block(at).into());
    at.call(guard, "warpgrind_inject_count", &[], &arguments);
}

fn count(at: &mut Cursor<'_, '_>, stratum: Stratum, more: usize, guard: Option<Guard>) {
    if more > 0 {
        let count = at.state::<Kept>().counts[stratum.number()];
        at.before().inst_if(guard, "add.u32", &[count.into(), count.into(), (more as i64).into()]);
    }
}

fn count_instruction(at: &mut Cursor<'_, '_>, stmt: StmtId) {
    if is_instruction(at, stmt) {
        let guard = own_guard(at, stmt);
        count(at, Stratum::Instructions, 1, guard);
    }
}

/// The guard that the program gave an instruction. Another tool may let only one copy of a thread execute it, and both copies
/// have as many places as the thread.
fn own_guard(at: &mut Cursor<'_, '_>, stmt: StmtId) -> Option<Guard> {
    let origin = at.editor().body().origin(stmt).id;
    let current = at.editor().view(stmt).and_then(|view| view.inst.guard);
    at.state::<Kept>().guards.get(&origin).copied().unwrap_or(current)
}

/// Whether an instruction is one of those that may be left out, and by which time is counted. Calls, and what lanes do together,
/// are none: others depend on that they happen. Nor are accesses to parameters, because those of calls cannot have guards.
fn is_instruction(at: &mut Cursor<'_, '_>, stmt: StmtId) -> bool {
    let is_one = |view: View<'_>| {
        !view.is_collective()
            && !matches!(view.effect(), Some(Effect::Call | Effect::Barrier))
            && view.form.spaces().all(|space| space != Space::Param)
    };
    at.editor().view(stmt).is_some_and(is_one)
}

fn has_no_result(at: &mut Cursor<'_, '_>, stmt: StmtId) -> bool {
    at.editor().view(stmt).is_some_and(|view| view.writes().is_empty())
}

/// An instruction may be left out.
fn skip(at: &mut Cursor<'_, '_>, stmt: StmtId, guard: Option<Guard>) {
    if !is_instruction(at, stmt) {
        return;
    }
    let own = own_guard(at, stmt);
    let (armed, is_reached) = (ask(at, stmt), is_executed(at, own));
    let (happens, holds) = (at.reg(Type::B32), at.reg(Type::Pred));
    at.before().inst("mov.b32", &[happens.into(), is_reached]);
    let site = at.instruction_site(0).0;
    let strata = if is_own(at, stmt) { Stratum::Instructions.bit() } else { 0 };
    let arm = arm(at);
    let arguments = [happens.into(), site.into_operand(), strata.into_operand(), arm.into()];
    at.call(Some(armed), "warpgrind_inject_skip", &[happens.into()], &arguments);
    if guard != own {
        let is_executed = is_executed(at, guard);
        at.before().inst("and.b32", &[happens.into(), happens.into(), is_executed]);
    }
    at.before().inst("setp.ne.u32", &[holds.into(), happens.into(), Operand::Int(0)]);
    at.editor().set_guard(stmt, Some(Guard::when(holds)));
}

/// An instruction reads and writes registers, of which one may have a fault.
fn registers(at: &mut Cursor<'_, '_>, stmt: StmtId, guard: Option<Guard>) {
    let Some(view) = at.editor().view(stmt) else { return };
    let (mut reads, writes) = (view.reads(), view.writes());
    // The guard decides whether the others are read, so it comes first.
    reads.sort_by_key(|&reg| guard.is_none_or(|guard| guard.reg != reg));
    let mut reads: Vec<Reg> = reads.into_vec();
    reads.dedup();
    let of_program = |at: &mut Cursor<'_, '_>, regs: &[Reg]| {
        let regs = regs.iter().enumerate().filter(|(place, reg)| !regs[..*place].contains(reg)).map(|(_, reg)| *reg);
        let regs: Vec<Reg> = regs.filter(|reg| at.state::<Kept>().registers.contains(reg)).collect();
        regs.into_iter().filter_map(|reg| Some((reg, Kind::of(at, reg)?))).collect::<Vec<_>>()
    };
    let (reads, writes) = (of_program(at, &reads), of_program(at, &writes));
    let armed = ask(at, stmt);
    let func = at.editor().func().index() as u32;
    let register = move |reg: Reg| register_number(func, reg).into_operand();
    if is_own(at, stmt) && is_instruction(at, stmt) {
        let own = own_guard(at, stmt);
        let is_reached = is_executed(at, own);
        let site = at.instruction_site(0).0;
        let arm = arm(at);
        let arguments = [is_reached, site.into_operand(), Stratum::Instructions.bit().into_operand(), arm.into()];
        at.call(Some(armed), "warpgrind_inject_time", &[], &arguments);
    }
    for (reg, kind) in reads {
        let site = at.instruction_site(0).0;
        let arm = arm(at);
        let arguments = [site.into_operand(), kind.size().into_operand(), register(reg), arm.into()];
        strike(at, Place::Before, armed, reg, kind, "warpgrind_inject_seen", &arguments);
    }
    for (reg, _) in writes {
        let is_executed = is_executed(at, guard);
        let arm = arm(at);
        at.call_after(Some(armed), "warpgrind_inject_written", &[], &[is_executed, register(reg), arm.into()]);
    }
}

/// How many places a thread is from the first that is armed.
fn who(at: &mut Cursor<'_, '_>) -> Reg {
    let (thread, first) = (thread(at), at.word(FIRST));
    at.at_entry("sub.u64", Type::B64, &[thread.into(), first.into()])
}

/// The address of the thread's arm, if it has one.
fn arm(at: &mut Cursor<'_, '_>) -> Reg {
    let (who, arms) = (who(at), at.word(ARMS));
    at.at_entry("mad.lo.u64", Type::B64, &[who.into(), Operand::Int(super::arm::BYTES as i64), arms.into()])
}

/// Whether the thread is armed, asked once in each basic block.
fn ask(at: &mut Cursor<'_, '_>, stmt: StmtId) -> Guard {
    let (who, armed) = (who(at), at.word(ARMED));
    let kept = at.state::<Kept>();
    let block = kept.blocks.get(&stmt).copied().unwrap_or(u32::MAX);
    if let Some((asked, is_armed)) = kept.asked
        && asked == block
    {
        return Guard::when(is_armed);
    }
    let is_armed = at.reg(Type::Pred);
    at.before().inst("setp.lt.u64", &[is_armed.into(), who.into(), armed.into()]);
    at.state::<Kept>().asked = Some((block, is_armed));
    Guard::when(is_armed)
}

/// 1 where a guard holds, and else 0. The instruction may overwrite its guard, so that comes before it.
fn is_executed(at: &mut Cursor<'_, '_>, guard: Option<Guard>) -> Operand {
    let Some(guard) = guard else { return Operand::Int(1) };
    let holds = at.reg(Type::B32);
    let [yes, no] = if guard.negated { [0, 1] } else { [1, 0] };
    at.before().inst("selp.b32", &[holds.into(), Operand::Int(yes), Operand::Int(no), guard.reg.into()]);
    holds.into()
}

/// Where a value is struck: before the instruction, or after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    After,
}

/// Numbers as operands.
trait IntoOperand {
    fn into_operand(self) -> Operand;
}

impl IntoOperand for u32 {
    fn into_operand(self) -> Operand {
        i64::from(self).into()
    }
}

/// A register as a helper has it: what comes before the call, the register that is given and returned, and what comes after.
struct Carried {
    reg: Reg,
    before: Vec<(&'static str, Vec<Operand>)>,
    after: Vec<(&'static str, Vec<Operand>)>,
}

fn carried(at: &mut Cursor<'_, '_>, reg: Reg, kind: Kind) -> Carried {
    let mut fresh = |ty: Type| at.reg(ty);
    let one = |spelling: &'static str, to: Reg, from: Reg| (spelling, vec![to.into(), from.into()]);
    match kind {
        Kind::Bits32 | Kind::Bits64 => Carried { reg, before: Vec::new(), after: Vec::new() },
        Kind::Float | Kind::Double => {
            let (ty, spelling) = if kind == Kind::Float { (Type::B32, "mov.b32") } else { (Type::B64, "mov.b64") };
            let plain = fresh(ty);
            Carried { reg: plain, before: vec![one(spelling, plain, reg)], after: vec![one(spelling, reg, plain)] }
        }
        Kind::Bits16 | Kind::Half => {
            let (short, plain) = (fresh(Type::B16), fresh(Type::B32));
            Carried {
                reg: plain,
                before: vec![one("mov.b16", short, reg), one("cvt.u32.u16", plain, short)],
                after: vec![one("cvt.u16.u32", short, plain), one("mov.b16", reg, short)],
            }
        }
        Kind::Predicate => {
            let plain = fresh(Type::B32);
            Carried {
                reg: plain,
                before: vec![("selp.b32", vec![plain.into(), Operand::Int(1), Operand::Int(0), reg.into()])],
                after: vec![("setp.ne.u32", vec![reg.into(), plain.into(), Operand::Int(0)])],
            }
        }
    }
}

/// Has a helper change a register, where the thread is armed. The helper of 32 bits and that of 64 have names of their own.
fn strike(
    at: &mut Cursor<'_, '_>,
    place: Place,
    armed: Guard,
    reg: Reg,
    kind: Kind,
    helper: &str,
    arguments: &[Operand],
) {
    let carried = carried(at, reg, kind);
    let helper = format!("{helper}_{}", if kind.size() == 64 { "b64" } else { "b32" });
    let mut all = vec![carried.reg.into()];
    all.extend_from_slice(arguments);
    match place {
        Place::Before => {
            for (spelling, operands) in &carried.before {
                at.before().inst(spelling, operands);
            }
            at.call(Some(armed), &helper, &[carried.reg.into()], &all);
            for (spelling, operands) in &carried.after {
                at.before().inst(spelling, operands);
            }
        }
        Place::After => {
            for (spelling, operands) in carried.after.iter().rev() {
                at.after().inst(spelling, operands);
            }
            at.call_after(Some(armed), &helper, &[carried.reg.into()], &all);
            for (spelling, operands) in carried.before.iter().rev() {
                at.after().inst(spelling, operands);
            }
        }
    }
}

/// A copy of a register that is struck before the instruction, and the register stays as it is.
fn struck_copy(
    at: &mut Cursor<'_, '_>,
    armed: Guard,
    reg: Reg,
    kind: Kind,
    is_executed: Operand,
    stratum: Stratum,
) -> Reg {
    let ty = at.editor().function().reg_type(reg);
    let copy = at.reg(ty);
    let spelling = format!(
        "mov.{}",
        match (ty.kind(), ty.bits()) {
            (TypeKind::Float, 16) => "b16",
            _ => ty.text(),
        }
    );
    at.before().inst(&spelling, &[copy.into(), reg.into()]);
    let site = at.instruction_site(0).0;
    let arm = arm(at);
    let arguments =
        [is_executed, site.into_operand(), kind.size().into_operand(), stratum.bit().into_operand(), arm.into()];
    strike(at, Place::Before, armed, copy, kind, "warpgrind_inject", &arguments);
    copy
}

/// The register that an access has its address in, with its offset; and of a store the registers that are stored, and nothing
/// for what is not in one that can be struck.
#[expect(clippy::type_complexity, reason = "it is looked at at once")]
fn operands(at: &mut Cursor<'_, '_>, access: &Access) -> (Option<(Reg, i32, Kind)>, Vec<Option<(Reg, Kind)>>) {
    let Some(view) = at.editor().view(access.stmt).filter(|view| !view.is_collective()) else {
        return (None, Vec::new());
    };
    let address = view.operands().get(access.access.address).copied();
    let is_store = view.op() == Some(Op::St) && access.access.kind == AccessKind::Write && access.index == 0;
    let stored: Vec<Operand> = match view.operands() {
        [_, Operand::Vector(list)] if is_store => view.body.operands(*list).to_vec(),
        [_, stored] if is_store => vec![*stored],
        _ => Vec::new(),
    };
    let address = match address {
        Some(Operand::RegAddress(reg, offset)) => Kind::of(at, reg).map(|kind| (reg, offset, kind)),
        _ => None,
    };
    let stored = stored.into_iter().map(|operand| match operand {
        Operand::Reg(reg) => Kind::of(at, reg).map(|kind| (reg, kind)),
        _ => None,
    });
    let stored: Vec<_> = stored.collect();
    let has_some = stored.iter().any(Option::is_some);
    (address, if has_some { stored } else { Vec::new() })
}

/// Has a store write other registers.
fn replace_stored(at: &mut Cursor<'_, '_>, stmt: StmtId, copies: &[Option<Reg>]) {
    if copies.is_empty() {
        return;
    }
    let view = at.editor().view(stmt).expect("stores are instructions");
    let is_vector = matches!(view.operands(), [_, Operand::Vector(_)]);
    let old: Vec<Operand> = match view.operands() {
        [_, Operand::Vector(list)] => view.body.operands(*list).to_vec(),
        [_, stored] => vec![*stored],
        _ => return,
    };
    let new: Vec<Operand> = old.iter().zip(copies).map(|(old, copy)| copy.map_or(*old, Operand::Reg)).collect();
    let operand = if is_vector { at.before().vector(&new) } else { new[0] };
    at.editor().set_operand(stmt, 1, operand);
}
