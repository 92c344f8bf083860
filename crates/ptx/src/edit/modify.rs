//! Changing instructions that are there.

use smallvec::SmallVec;

use super::editor::Editor;
use crate::form::FormId;
use crate::ir::{Body, Guard, Inst, List, Operand, PairMember, Reg, StmtId, TagId};

/// How an instruction uses a register at one place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegUse {
    /// It is read: a source, a guard, or the base of an address.
    Read,
    /// It is written. A guarded instruction writes only where its guard holds.
    Write,
    /// It is read and written and can have only one name: an accumulator, or a part of a register.
    ReadWrite,
}

impl Editor<'_> {
    fn inst_mut(&mut self, id: StmtId) -> &mut Inst {
        self.body_mut().inst_mut(id).expect("only instructions are changed in this way")
    }

    /// Exchanges an instruction for another one, which stands for the same instruction of the user.
    pub fn replace(&mut self, id: StmtId, guard: Option<Guard>, spelling: &str, operands: &[Operand]) {
        let form = self.form(spelling);
        *self.inst_mut(id) = self.body_mut().make_inst(guard, form, operands);
    }

    /// Changes opcode and modifiers, mostly to what [`Forms::with_modifier`](crate::form::Forms::with_modifier) gives.
    pub fn set_form(&mut self, id: StmtId, form: FormId) {
        self.inst_mut(id).form = form;
    }

    /// Changes under which condition an instruction is executed.
    pub fn set_guard(&mut self, id: StmtId, guard: Option<Guard>) {
        self.inst_mut(id).guard = guard;
    }

    /// Changes one operand.
    pub fn set_operand(&mut self, id: StmtId, index: usize, operand: Operand) {
        let list = self.inst_mut(id).operands;
        self.body_mut().operands_mut(list)[index] = operand;
    }

    /// Says that a tool is the author of an instruction, which still stands for the same instruction of the user.
    pub fn set_tag(&mut self, id: StmtId, tag: TagId) {
        let origin = self.body().origin(id).tagged(tag);
        self.body_mut().set_origin(id, origin);
    }

    /// Renames the registers of an instruction, its guard included. `rename` is told how each is used, so that what is
    /// read and what is written can get different names.
    pub fn rename_regs(&mut self, id: StmtId, mut rename: impl FnMut(Reg, RegUse) -> Reg) {
        let view = self.view(id).expect("only instructions have registers");
        let mut uses: SmallVec<[(bool, bool); 8]> = SmallVec::new();
        view.for_each_operand(|_, read, written| uses.push((read, written)));
        let list = view.inst.operands;
        for (index, (read, written)) in uses.into_iter().enumerate() {
            let operand = self.body().operands(list)[index];
            let reg_use = match (read, written) {
                // The base of an address is read whatever happens to the memory there.
                _ if operand.is_address() => RegUse::Read,
                (true, true) => RegUse::ReadWrite,
                (false, true) if matches!(operand, Operand::Part(..)) => RegUse::ReadWrite,
                (false, true) => RegUse::Write,
                (_, false) => RegUse::Read,
            };
            let renamed = map_regs(self.body_mut(), operand, &mut |reg| rename(reg, reg_use));
            self.body_mut().operands_mut(list)[index] = renamed;
        }
        if let Some(guard) = &mut self.inst_mut(id).guard {
            guard.reg = rename(guard.reg, RegUse::Read);
        }
    }
}

/// The operand with other registers. Lists are changed in place.
fn map_regs(body: &mut Body, operand: Operand, map: &mut impl FnMut(Reg) -> Reg) -> Operand {
    match operand {
        Operand::Reg(reg) => Operand::Reg(map(reg)),
        Operand::Not(reg) => Operand::Not(map(reg)),
        Operand::Neg(reg) => Operand::Neg(map(reg)),
        Operand::Part(reg, part) => Operand::Part(map(reg), part),
        Operand::RegAddress(reg, offset) => Operand::RegAddress(map(reg), offset),
        Operand::Pair(first, second) => Operand::Pair(map_member(first, map), map_member(second, map)),
        Operand::VectorPair(list, second) => {
            map_list(body, list, map);
            Operand::VectorPair(list, map_member(second, map))
        }
        Operand::Vector(list) | Operand::TupleAddress(list) | Operand::Arguments(list) => {
            map_list(body, list, map);
            operand
        }
        Operand::Special(_)
        | Operand::Int(_)
        | Operand::Hex(_)
        | Operand::F32(_)
        | Operand::F64(_)
        | Operand::WarpSize
        | Operand::Symbol(..)
        | Operand::SymbolAddress(..)
        | Operand::IntAddress(_)
        | Operand::Element(..)
        | Operand::Sink => operand,
    }
}

fn map_list(body: &mut Body, list: List, map: &mut impl FnMut(Reg) -> Reg) {
    for index in 0..list.len() {
        let renamed = map_regs(body, body.operands(list)[index], map);
        body.operands_mut(list)[index] = renamed;
    }
}

pub(super) fn map_member(member: PairMember, map: &mut impl FnMut(Reg) -> Reg) -> PairMember {
    member.reg().map_or(PairMember::SINK, |reg| map(reg).into())
}
