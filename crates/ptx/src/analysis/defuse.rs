//! The registers that each instruction reads and writes, found once for all analyses that ask.

use super::lists::Lists;
use crate::entity::{Id, Map};
use crate::form::Forms;
use crate::ir::{Function, Param, Reg, StmtId};
use crate::ops::Effect;
use crate::view::View;

/// The registers that each statement of a function reads and writes.
///
/// The carry flag counts as a register, with the id after the last one ([`DefUse::carry`]); it is not among
/// [`Function::regs`]. A `ret` reads the result registers of the function (`.func (.reg .b32 %out) …`).
#[derive(Clone, Debug)]
pub struct DefUse {
    reads: Lists<StmtId, Reg>,
    writes: Lists<StmtId, Reg>,
    /// Whether all the writes of a statement happen whenever control passes it.
    is_certain: Map<StmtId, bool>,
    writers: Lists<Reg, StmtId>,
    results: Vec<Reg>,
    parameters: Vec<Reg>,
    carry: Reg,
}

impl DefUse {
    /// Reads and writes of a function. A declaration without a body has none.
    pub fn of(forms: &Forms, function: &Function) -> Self {
        let carry = Reg::new(function.regs.len());
        let results = registers_of(function, &function.returns);
        let parameters = registers_of(function, &function.params);
        let (mut reads, mut writes, mut writers) = (Vec::new(), Vec::new(), Vec::new());
        let statements = function.body.as_ref().map_or(0, |body| body.capacity());
        let mut is_certain = Map::filled(statements, false);
        // The last statement that read, or wrote, each register: one instruction may have thousands of operands.
        let mut read_by = Map::<Reg, _>::filled(carry.index() + 1, None);
        let mut written_by = read_by.clone();
        if let Some(body) = &function.body {
            for id in body.iter() {
                let Some(view) = View::of(forms, body, id) else { continue };
                let mut read = |reg| {
                    if read_by[reg].replace(id) != Some(id) {
                        reads.push((id, reg));
                    }
                };
                view.for_each_read(&mut read);
                if view.reads_carry() {
                    read(carry);
                }
                if view.effect() == Some(Effect::Return) {
                    results.iter().copied().for_each(read);
                }
                let mut write = |reg| {
                    if written_by[reg].replace(id) != Some(id) {
                        writes.push((id, reg));
                        writers.push((reg, id));
                    }
                };
                view.for_each_write(&mut write);
                if view.writes_carry() {
                    write(carry);
                }
                // What an unknown instruction is said to write may be something that it only reads.
                is_certain[id] = view.inst.guard.is_none() && view.matched_operands().is_some();
            }
        }
        Self {
            reads: Lists::from_pairs(statements, &reads),
            writes: Lists::from_pairs(statements, &writes),
            is_certain,
            writers: Lists::from_pairs(carry.index() + 1, &writers),
            results,
            parameters,
            carry,
        }
    }

    /// The registers that a statement reads, each once: operands, guard, the carry flag.
    pub fn reads(&self, statement: StmtId) -> &[Reg] {
        &self.reads[statement]
    }

    /// The registers that a statement writes, or may write, each once.
    pub fn writes(&self, statement: StmtId) -> &[Reg] {
        &self.writes[statement]
    }

    /// The registers whose former value is gone after a statement: what it writes, unless it is guarded or unknown.
    ///
    /// A write to a part of a register counts, because the instruction is said to read the rest of it.
    pub fn kills(&self, statement: StmtId) -> &[Reg] {
        if self.is_certain[statement] { self.writes(statement) } else { &[] }
    }

    /// The statements that write a register, in the order of the text.
    pub fn writers(&self, reg: Reg) -> &[StmtId] {
        &self.writers[reg]
    }

    /// The registers that return results of the function.
    pub fn results(&self) -> &[Reg] {
        &self.results
    }

    /// The registers that hold arguments when control enters.
    pub fn parameters(&self) -> &[Reg] {
        &self.parameters
    }

    /// The carry flag.
    pub fn carry(&self) -> Reg {
        self.carry
    }

    /// Number of registers, the carry flag included.
    pub fn registers(&self) -> usize {
        self.carry.index() + 1
    }

    pub(super) fn read_lists(&self) -> &Lists<StmtId, Reg> {
        &self.reads
    }
}

fn registers_of(function: &Function, params: &[Param]) -> Vec<Reg> {
    let is_one = |param: &Param, reg| matches!(param, Param::Reg(group) if function.regs[reg].group == *group);
    if params.iter().all(|param| matches!(param, Param::Var(_))) {
        return Vec::new();
    }
    function.regs.ids().filter(|&reg| params.iter().any(|param| is_one(param, reg))).collect()
}
