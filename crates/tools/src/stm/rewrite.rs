//! Makes transactions of what is between marks.
//!
//! At a beginning, registers that an attempt changes are saved, and an attempt begins. What is loaded comes through a function
//! of the header into a few bytes of local memory, from which the same load takes it, so that types, vectors and extensions
//! stay what they were; stores go the other way. Where a function says that the attempt has failed, the thread goes back to the
//! beginning at once. At an end the attempt commits, or goes back, too.

use ::rewrite::Refusal;
use ptx::edit::Editor;
use ptx::ir::{FuncId, Guard, Label, Operand, Reg, StmtId, Symbol, TagId};
use ptx::ops::Effect;
use ptx::types::{Space, Type};
use ptx::view::{AccessKind, AccessSpace, MemAccess};

use super::TOOL;
use super::refusals::{self, Accesses, refusal};
use super::region::{self, Begin, Regions};
use super::runtime::Runtime;

/// More calls than this do not become part of a transaction.
const MOST_CALLS: usize = 256;
/// Statements of a function in which calls still become part of a transaction.
const MOST_STATEMENTS: usize = 1 << 18;
/// Bytes of a transaction that a header can ask for.
const TRANSACTION_BYTES: std::ops::RangeInclusive<i64> = 64..=1 << 16;
/// The bytes through which values pass.
const VALUE_BYTES: i64 = 16;

/// Makes the transactions of a function.
pub(super) fn transform(editor: &mut Editor<'_>) -> Result<(), Refusal> {
    if region::find(editor.module(), editor.func())?.is_none() {
        return Ok(());
    }
    let not_editable = |error: ptx::edit::EditError| refusal("not-editable", error.to_string());
    editor.flatten().map_err(not_editable)?;
    let tag = editor.tag(TOOL, "transaction", 0);
    let regions = with_calls_inlined(editor, tag)?;
    let mut accesses = Vec::new();
    for &stmt in &regions.inside {
        let Some(view) = editor.view(stmt) else { continue };
        if let Accesses::Shared { access, bytes } = refusals::of_instruction(&view)? {
            accesses.push((stmt, access, bytes));
        }
    }
    let mut rewriting = Rewriting::new(editor, tag, &regions)?;
    for (number, begin) in regions.begins.iter().enumerate() {
        rewriting.begin(number, begin)?;
    }
    for (stmt, access, bytes) in accesses {
        rewriting.access(stmt, access, bytes);
    }
    for &end in &regions.ends {
        rewriting.end(end);
    }
    rewriting.dispatch();
    Ok(())
}

/// Puts the bodies of functions in the place of calls in transactions.
fn with_calls_inlined(editor: &mut Editor<'_>, tag: TagId) -> Result<Regions, Refusal> {
    let mut inlined = 0;
    loop {
        let regions = region::find(editor.module(), editor.func())?.expect("marks are not removed");
        let is_call = |stmt: &StmtId| editor.view(*stmt).is_some_and(|view| view.effect() == Some(Effect::Call));
        let calls: Vec<StmtId> = regions.inside.iter().copied().filter(is_call).collect();
        if calls.is_empty() {
            return Ok(regions);
        }
        for call in calls {
            let callee = editor.view(call).and_then(|view| view.callee());
            if let Some(refusal) = refusals::of_call(editor.module(), callee) {
                return Err(refusal);
            }
            inlined += 1;
            if inlined > MOST_CALLS || editor.body().capacity() > MOST_STATEMENTS {
                let reason = format!("its transactions have more than {MOST_CALLS} calls, or too large functions");
                return Err(refusal("too-many-calls", reason));
            }
            editor.inline(call, tag).map_err(|error| refusal("call", format!("a call in a transaction: {error}")))?;
        }
    }
}

struct Rewriting<'e, 'm> {
    editor: &'e mut Editor<'m>,
    tag: TagId,
    runtime: Runtime,
    /// The address of the transaction, and of the bytes through which values pass.
    transaction: Reg,
    value: Reg,
    /// The same bytes as an operand of loads and stores of local memory.
    value_address: Operand,
    /// Where attempts begin again.
    retries: Vec<Label>,
    /// Where an attempt goes that has failed.
    failed: Label,
    /// The number of the beginning, if there are several.
    which: Option<Reg>,
}

impl<'e, 'm> Rewriting<'e, 'm> {
    fn new(editor: &'e mut Editor<'m>, tag: TagId, regions: &Regions) -> Result<Self, Refusal> {
        let runtime =
            Runtime::of(editor.module()).ok_or_else(|| refusal("no-header", "the header is not in its module"))?;
        let bytes = regions.begins.iter().map(|begin| begin.bytes).max().unwrap_or(0);
        if regions.begins.iter().any(|begin| !TRANSACTION_BYTES.contains(&begin.bytes)) {
            return Err(refusal("no-header", format!("a mark asks for a transaction of {bytes} bytes")));
        }
        let offset = (bytes + VALUE_BYTES - 1) / VALUE_BYTES * VALUE_BYTES;
        let size = (offset + VALUE_BYTES).unsigned_abs();
        let frame = Symbol::Var(editor.byte_array(Space::Local, "warpgrind_transaction", size, 16));
        let (transaction, value) = (editor.reg(tag, Type::B64), editor.reg(tag, Type::B64));
        let mut entry = editor.at_entry(tag);
        entry.inst("mov.u64", &[transaction.into(), frame.into()]);
        entry.inst("cvta.local.u64", &[transaction.into(), transaction.into()]);
        entry.inst("add.u64", &[value.into(), transaction.into(), offset.into()]);
        let retries: Vec<Label> = regions.begins.iter().map(|_| editor.label("$stm_retry")).collect();
        let (failed, which) = match retries[..] {
            [only] => (only, None),
            _ => (editor.label("$stm_failed"), Some(editor.reg(tag, Type::B32))),
        };
        let value_address = Operand::SymbolAddress(frame, i32::try_from(offset).expect("it is small"));
        Ok(Self { editor, tag, runtime, transaction, value, value_address, retries, failed, which })
    }

    fn begin(&mut self, number: usize, begin: &Begin) -> Result<(), Refusal> {
        let mut saved = Vec::new();
        for &reg in &begin.changed {
            let group = &self.editor.function().groups[self.editor.function().regs[reg].group];
            let spelling = match (group.ty, group.ty.bits(), group.vector) {
                (Type::Pred, _, 1) => "mov.pred",
                (_, 16, 1) => "mov.b16",
                (_, 32, 1) => "mov.b32",
                (_, 64, 1) => "mov.b64",
                (_, 128, 1) => "mov.b128",
                (ty, ..) => {
                    return Err(refusal(
                        "register",
                        format!("a transaction changes a register of type {ty} that is needed again"),
                    ));
                }
            };
            saved.push((spelling, reg, self.editor.reg_like(self.tag, reg)));
        }
        let (which, retry, transaction) = (self.which, self.retries[number], self.transaction);
        let mut before = self.editor.before(begin.stmt, self.tag);
        for &(spelling, reg, copy) in &saved {
            before.inst(spelling, &[copy.into(), reg.into()]);
        }
        if let Some(which) = which {
            before.inst("mov.u32", &[which.into(), (number as i64).into()]);
        }
        before.call(None, self.runtime.open, &[], &[transaction.into()]);
        before.place(retry);
        for &(spelling, reg, copy) in &saved {
            before.inst(spelling, &[reg.into(), copy.into()]);
        }
        before.call(None, self.runtime.begin, &[], &[transaction.into()]);
        Ok(())
    }

    fn access(&mut self, stmt: StmtId, access: MemAccess, bytes: u32) {
        let view = self.editor.view(stmt).expect("accesses are made by instructions");
        let ty = view.form.types().first().copied().expect("loads and stores have a type");
        let (guard, operands) = (view.inst.guard, view.operands().to_vec());
        let vector = if access.vector > 1 { format!(".v{}", access.vector) } else { String::new() };
        let is_load = access.kind == AccessKind::Read;
        if let Some(guard) = guard {
            let skip = self.editor.label("$stm_skip");
            self.editor.before(stmt, self.tag).branch(Some(guard.inverted()), skip);
            self.editor.after(stmt, self.tag).place(skip);
        }
        let address = self.address(stmt, access, operands[access.address]);
        if is_load {
            self.pass(stmt, true, self.runtime.read, address, bytes);
            let local = [operands[0], self.value_address];
            self.editor.replace(stmt, None, &format!("ld.local{vector}.{ty}"), &local);
        } else {
            let stored = operands[1];
            self.pass(stmt, false, self.runtime.write, address, bytes);
            let local = [self.value_address, stored];
            self.editor.replace(stmt, None, &format!("st.local{vector}.{ty}"), &local);
        }
    }

    /// The address of an access, as one of generic memory.
    fn address(&mut self, stmt: StmtId, access: MemAccess, operand: Operand) -> Reg {
        let address = self.editor.reg(self.tag, Type::B64);
        let base_bits = match operand {
            Operand::RegAddress(base, _) => self.editor.function().reg_type(base).bits(),
            _ => 64,
        };
        let mut before = self.editor.before(stmt, self.tag);
        match operand {
            Operand::RegAddress(base, offset) => {
                let widened = if base_bits == 32 { "cvt.u64.u32" } else { "mov.b64" };
                before.inst(widened, &[address.into(), base.into()]);
                if offset != 0 {
                    before.inst("add.s64", &[address.into(), address.into(), i64::from(offset).into()]);
                }
            }
            Operand::SymbolAddress(symbol, offset) => {
                before.inst("mov.u64", &[address.into(), Operand::Symbol(symbol, offset)]);
            }
            Operand::IntAddress(number) => _ = before.inst("mov.u64", &[address.into(), Operand::Hex(number)]),
            other => panic!("{other:?} was refused"),
        }
        if access.space == AccessSpace::State(Space::Global) {
            before.inst("cvta.global.u64", &[address.into(), address.into()]);
        }
        address
    }

    /// Passes a value through the transaction, before an instruction or after it, and goes back if that has failed.
    fn pass(&mut self, stmt: StmtId, is_before: bool, function: FuncId, address: Reg, bytes: u32) {
        let arguments = [self.transaction.into(), address.into(), i64::from(bytes).into(), self.value.into()];
        self.call_or_fail(stmt, is_before, function, &arguments);
    }

    fn call_or_fail(&mut self, stmt: StmtId, is_before: bool, function: FuncId, arguments: &[Operand]) {
        let (is_done, has_failed) = (self.editor.reg(self.tag, Type::B32), self.editor.reg(self.tag, Type::Pred));
        let mut at = if is_before { self.editor.before(stmt, self.tag) } else { self.editor.after(stmt, self.tag) };
        at.call(None, function, &[is_done.into()], arguments);
        at.inst("setp.eq.u32", &[has_failed.into(), is_done.into(), 0.into()]);
        at.branch(Some(Guard::when(has_failed)), self.failed);
    }

    fn end(&mut self, stmt: StmtId) {
        self.call_or_fail(stmt, true, self.runtime.commit, &[self.transaction.into()]);
    }

    /// Sends attempts that have failed to where they began.
    fn dispatch(self) {
        let (Some(which), Some((last, others))) = (self.which, self.retries.split_last()) else { return };
        let is_it = self.editor.reg(self.tag, Type::Pred);
        let mut end = self.editor.at_end(self.tag);
        end.inst("ret", &[]);
        end.place(self.failed);
        for (number, retry) in others.iter().enumerate() {
            end.inst("setp.eq.u32", &[is_it.into(), which.into(), (number as i64).into()]);
            end.branch(Some(Guard::when(is_it)), *retry);
        }
        end.branch(None, *last);
    }
}
