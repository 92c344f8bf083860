//! Kernels with one mistake: a barrier is missing, or an access is an element too far.

use ptx::analysis::BarrierKind;
use ptx::ir::{FuncId, Module, Operand, StmtId};
use ptx::types::Space;
use ptx::view::{AccessBytes, AccessSpace, View};

/// A kernel with a mistake.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The module with the mistake.
    pub module: Module,
    /// What it is.
    pub mistake: Mistake,
    /// The line of the PTX where it was made.
    pub line: u32,
}

/// What was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// A barrier is missing.
    NoBarrier,
    /// An access is an element further.
    NextElement,
}

/// All kernels that one mistake makes of one.
pub fn mutants(module: &Module, kernel: FuncId) -> Vec<Mutant> {
    let Some(body) = &module.functions[kernel].body else { return Vec::new() };
    let mut all = Vec::new();
    for (id, _) in body.insts() {
        let view = View::of(&module.forms, body, id).expect("it is an instruction");
        let line = module.lines.line(body.position(id));
        if BarrierKind::of(&view) == Some(BarrierKind::Wait) {
            let mut broken = module.clone();
            let body = broken.functions[kernel].body.as_mut().expect("it has a body");
            body.remove(id);
            all.push(Mutant { module: broken, mistake: Mistake::NoBarrier, line });
        }
        if let Some(broken) = shifted(module, kernel, &view, id) {
            all.push(Mutant { module: broken, mistake: Mistake::NextElement, line });
        }
    }
    all
}

fn shifted(module: &Module, kernel: FuncId, view: &View<'_>, id: StmtId) -> Option<Module> {
    let accesses = view.accesses();
    let access = accesses.first()?;
    let is_memory = match access.space {
        AccessSpace::Generic => true,
        AccessSpace::State(space) => matches!(space, Space::Global | Space::Shared),
        _ => false,
    };
    let AccessBytes::Fixed(bytes) = access.bytes else { return None };
    if !is_memory {
        return None;
    }
    let further = |offset: i32| offset.checked_add_unsigned(bytes);
    let operand = match view.operands()[access.address] {
        Operand::RegAddress(reg, offset) => Operand::RegAddress(reg, further(offset)?),
        Operand::SymbolAddress(symbol, offset) => Operand::SymbolAddress(symbol, further(offset)?),
        _ => return None,
    };
    let mut broken = module.clone();
    let body = broken.functions[kernel].body.as_mut()?;
    let list = body.inst(id)?.operands;
    body.operands_mut(list)[access.address] = operand;
    Some(broken)
}
