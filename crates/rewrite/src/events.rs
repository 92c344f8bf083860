//! Finds what tools are told of a function, in the order of the text.

use ptx::analysis::Provenance;
use ptx::ir::{FuncId, Guard, Module, Operand, Reg, Stmt, StmtId};
use ptx::ops::Effect;
use ptx::types::Space;
use ptx::view::{AccessBytes, AccessKind, AccessSpace, MemAccess, View};

use crate::access_group::AccessGroups;
use crate::event::{Access, Branch, Call, Definition, Exit, Sync};
use crate::request::{Request, RequestKind, unchecked};

/// What an instruction gives tools to look at.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Access(Access),
    Sync(Sync),
    Call(Call),
    Branch(Branch),
    Exit(Exit),
    Definition(Definition),
    Request(Request),
}

impl Event {
    /// The instruction, and the guard that it had in the program.
    pub(crate) fn place(&self) -> (StmtId, Option<Guard>) {
        match *self {
            Self::Access(Access { stmt, guard, .. })
            | Self::Sync(Sync { stmt, guard, .. })
            | Self::Call(Call { stmt, guard, .. })
            | Self::Exit(Exit { stmt, guard, .. })
            | Self::Definition(Definition { stmt, guard, .. })
            | Self::Request(Request { stmt, guard, .. }) => (stmt, guard),
            Self::Branch(Branch { stmt, guard }) => (stmt, Some(guard)),
        }
    }
}

/// What tools are told of a function, in the order of the text.
pub(crate) fn of_function(module: &Module, func: FuncId) -> (Vec<Event>, AccessGroups) {
    let function = &module.functions[func];
    let body = function.body.as_ref().expect("only functions with bodies are rewritten");
    let provenance = Provenance::of(module, function);
    let mut events = Vec::new();
    let mut earlier = Earlier::default();
    let mut groups = AccessGroups::default();
    let unchecked = unchecked(module, func);
    for stmt in body.iter() {
        if matches!(body.stmt(stmt), Stmt::Label(_)) {
            earlier = Earlier::default();
            groups.end();
        }
        let Some(view) = View::of(&module.forms, body, stmt) else { continue };
        let guard = view.inst.guard;
        let accesses = view.accesses();
        let is_alone = accesses.len() == 1;
        for (index, access) in accesses.into_iter().enumerate() {
            let operand = view.operands()[access.address];
            // Parameters of calls and kernels are checked by the verifier, and textures by the API.
            let is_memory = match access.space {
                AccessSpace::Generic => true,
                AccessSpace::State(space) => space != Space::Param,
                _ => false,
            };
            let is_address =
                matches!(operand, Operand::RegAddress(..) | Operand::SymbolAddress(..) | Operand::IntAddress(_));
            if is_memory && is_address {
                let is_unchecked = unchecked.contains(&stmt);
                let covered_by = earlier.find(&operand, guard, &access).filter(|_| !is_unchecked);
                let pointer = provenance.address(&operand);
                let is_collective = view.is_collective();
                let mut access = Access {
                    stmt,
                    index,
                    access,
                    pointer,
                    guard,
                    is_collective,
                    covered_by,
                    is_unchecked,
                    group: None,
                };
                if is_alone && covered_by.is_none() && !is_unchecked {
                    access.group = groups.add(operand, access);
                }
                events.push(Event::Access(access));
                // Of what lanes do together, not each has to do its part.
                if index == 0 && covered_by.is_none() && !is_collective && !is_unchecked {
                    earlier.accesses.push((operand, guard, access.access, stmt));
                }
            }
        }
        view.for_each_write(|reg| earlier.forget(reg));
        groups.pass(&view);
        if view.effect() == Some(Effect::Branch) || view.effect() == Some(Effect::Call) {
            earlier = Earlier::default();
        }
        if let Some(kind) = view.synchronisation() {
            events.push(Event::Sync(Sync { stmt, kind, guard }));
        }
        if let Some(callee) = view.callee() {
            events.push(Event::Call(Call { stmt, callee, guard }));
        }
        if let (Some(Effect::Branch), Some(guard)) = (view.effect(), guard) {
            events.push(Event::Branch(Branch { stmt, guard }));
        }
        if let Some(ends_thread) = leaves(&view, function.is_entry()) {
            events.push(Event::Exit(Exit { stmt, ends_thread, guard }));
        }
        if let Some(kind) = RequestKind::of(module, function, &view) {
            events.push(Event::Request(Request { stmt, kind, guard }));
        }
        let mut regs = view.writes();
        regs.dedup();
        if !regs.is_empty() {
            events.push(Event::Definition(Definition { stmt, regs, guard }));
        }
    }
    (events, groups)
}

/// Whether an instruction leaves the function, and if it does whether it ends the thread.
fn leaves(view: &View<'_>, is_entry: bool) -> Option<bool> {
    match view.effect()? {
        Effect::Return => Some(is_entry),
        Effect::Exit => Some(true),
        _ => None,
    }
}

/// Accesses of a basic block whose addresses have not changed since.
#[derive(Default)]
struct Earlier {
    accesses: Vec<(Operand, Option<Guard>, MemAccess, StmtId)>,
}

/// More accesses than this are not compared with each other.
const MOST_EARLIER: usize = 64;

impl Earlier {
    /// An access to the same bytes, and perhaps more, under the same condition. Where memory may be there only to be read,
    /// one that reads says nothing of one that writes.
    fn find(&self, operand: &Operand, guard: Option<Guard>, access: &MemAccess) -> Option<StmtId> {
        let bytes = |access: &MemAccess| match access.bytes {
            AccessBytes::Fixed(bytes) => bytes,
            AccessBytes::Operand(_) | AccessBytes::Rows(_) | AccessBytes::Unknown => u32::MAX,
        };
        let is_same = |(of_earlier, under, earlier, _): &&(Operand, Option<Guard>, MemAccess, StmtId)| {
            of_earlier == operand
                && *under == guard
                && (covers(earlier.kind, access.kind) || !may_have_permissions(access.space))
                && earlier.space == access.space
                && bytes(access) <= bytes(earlier)
                && bytes(earlier) != u32::MAX
        };
        self.accesses.iter().rev().take(MOST_EARLIER).find(is_same).map(|(.., stmt)| *stmt)
    }

    /// A register gets another value.
    fn forget(&mut self, reg: Reg) {
        let is_other = |(operand, guard, ..): &(Operand, Option<Guard>, MemAccess, StmtId)| {
            !matches!(operand, Operand::RegAddress(base, _) if *base == reg)
                && guard.is_none_or(|guard| guard.reg != reg)
        };
        self.accesses.retain(is_other);
    }
}

/// Whether who may do the first may do the second: nobody writes what he may not read.
fn covers(first: AccessKind, second: AccessKind) -> bool {
    first == second || second == AccessKind::Read
}

/// Whether there may be memory with which not everything may be done: that of blocks and threads is always their own.
fn may_have_permissions(space: AccessSpace) -> bool {
    matches!(space, AccessSpace::Generic | AccessSpace::State(Space::Global))
}
