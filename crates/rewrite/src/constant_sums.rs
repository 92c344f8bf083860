//! Registers that are another one and a constant, in a basic block.
//!
//! Compilers compute an address anew for each access that is made from it, so two registers that differ may hold the same one.

use ptx::ir::{Operand, Reg};
use ptx::ops::Op;
use ptx::types::TypeKind;
use ptx::view::View;
use rustc_hash::FxHashMap;

/// The sums that hold at a place, while a basic block is read.
#[derive(Debug, Default)]
pub struct ConstantSums {
    sums: FxHashMap<Reg, (Reg, i32)>,
}

impl ConstantSums {
    /// The register that an address is made from, and how far it is from that. Nothing of an address without a register.
    pub fn resolve(&self, address: Operand) -> Option<(Reg, i32)> {
        let Operand::RegAddress(reg, offset) = address else { return None };
        let (base, sum) = self.of(reg);
        Some((base, offset.checked_add(sum)?))
    }

    fn of(&self, reg: Reg) -> (Reg, i32) {
        self.sums.get(&reg).copied().unwrap_or((reg, 0))
    }

    /// Goes after an instruction.
    pub fn pass(&mut self, view: &View<'_>) {
        let sum = self.sum_of(view);
        view.for_each_write(|reg| self.sums.retain(|sum, (base, _)| *sum != reg && *base != reg));
        if let Some((reg, base, number)) = sum {
            self.sums.insert(reg, (base, number));
        }
    }

    /// What an instruction adds a constant to, and where it puts the sum.
    fn sum_of(&self, view: &View<'_>) -> Option<(Reg, Reg, i32)> {
        let (Some(Op::Add), None) = (view.op(), view.inst.guard) else { return None };
        let &[Operand::Reg(sum), Operand::Reg(reg), Operand::Int(number)] = view.operands() else { return None };
        let ty = view.form.types().first()?;
        let is_whole = matches!(ty.kind(), TypeKind::Unsigned | TypeKind::Signed) && ty.bits() >= 32;
        let (base, before) = self.of(reg);
        // What the sum was made from is not there any more.
        (is_whole && sum != base).then_some(())?;
        Some((sum, base, i32::try_from(number).ok()?.checked_add(before)?))
    }

    /// At the end of the block.
    pub fn clear(&mut self) {
        self.sums.clear();
    }
}
