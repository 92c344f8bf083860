//! Registers that have one number for each group of lanes.
//!
//! In a block that is 16 threads wide, a warp is two rows of it, and indices of rows are two numbers, not 32. So a register
//! is kept as what the first lanes of the groups have, and computed for these only: the number of another lane is that of the
//! first lane of its group and a constant.
//!
//! A group may have no active lane. Then what is kept for it means nothing, and nobody reads it; and where lanes elsewhere
//! still need a register, only groups are written of which a lane is active.

use ptx::analysis::{LaneValue, Uniformity, Web};
use ptx::ir::{Operand, Reg, StmtId};
use ptx::ops::{Mod, Op};
use ptx::types::TypeKind;
use ptx::view::View;
use rustc_hash::FxHashMap;

use super::Analyses;

/// The numbers of groups into which lanes are divided; more are not worth it.
const GROUPS: [u32; 2] = [2, 4];

impl Analyses<'_> {
    /// The webs that are kept for groups of lanes, with the number of groups: those that are only written by instructions
    /// that can be computed so.
    pub(crate) fn find_subwarp_affine(&self) -> FxHashMap<Web, u32> {
        let Some(uniformity) = &self.uniformity else { return FxHashMap::default() };
        let mut subwarp_affine: FxHashMap<Web, u32> =
            uniformity.webs().filter_map(|web| Some((web, self.groups_of_web(uniformity, web)?))).collect();
        let mut has_changed = !subwarp_affine.is_empty();
        while has_changed {
            has_changed = false;
            for &block in &self.layout.order {
                for &statement in self.cfg.statements(block) {
                    let written = self.def_use.writes(statement).iter();
                    for web in written.filter_map(|&reg| uniformity.written(statement, reg)) {
                        let groups = subwarp_affine.get(&web).copied();
                        if groups
                            .is_some_and(|groups| !self.is_computed_in(uniformity, &subwarp_affine, statement, groups))
                        {
                            has_changed |= subwarp_affine.remove(&web).is_some();
                        }
                    }
                }
            }
        }
        subwarp_affine
    }

    /// How many groups of lanes have a number of their own in a web, if they are few, and more than one.
    fn groups_of_web(&self, uniformity: &Uniformity, web: Web) -> Option<u32> {
        let value = uniformity.value(web);
        let reg = uniformity.reg_of(web);
        // The carry flag has webs, too.
        let fits = self.is_known_or_speculated(value)
            && self.function.regs.get(reg).is_some()
            && self.register_bits(reg) <= 64;
        groups_of(value).filter(|groups| fits && GROUPS.contains(groups))
    }

    /// Whether a statement can be computed for the first lanes of so many groups.
    fn is_computed_in(
        &self,
        uniformity: &Uniformity,
        subwarp_affine: &FxHashMap<Web, u32>,
        statement: StmtId,
        groups: u32,
    ) -> bool {
        let Some(view) = self.view(statement) else { return false };
        let is_kept_so = |reg: Reg| {
            let Some(web) = uniformity.read(statement, reg) else { return false };
            self.is_affine(uniformity.value(web), self.register_bits(reg))
                || subwarp_affine.get(&web).is_some_and(|&others| others <= groups)
        };
        let is_affine = |operand: &Operand| match *operand {
            Operand::Special(special) => groups_of(&self.options.facts.special(special)).is_some_and(|of| of <= groups),
            Operand::Reg(_) | Operand::Int(_) | Operand::Hex(_) | Operand::Symbol(..) => true,
            _ => false,
        };
        let is_agreed = view.inst.guard.is_none_or(|guard| {
            uniformity.read(statement, guard.reg).is_some_and(|web| uniformity.value(web).is_uniform())
        });
        is_simple(&view)
            && is_agreed
            && view.operands().iter().all(is_affine)
            && self.def_use.writes(statement).len() == 1
            && self.def_use.reads(statement).iter().all(|&reg| is_kept_so(reg))
    }
}

/// How many groups of lanes have a number of their own, if groups are neighbours.
fn groups_of(value: &LaneValue) -> Option<u32> {
    // The bits that tell the groups apart.
    let free = value.base_lane(31);
    let groups = 32_u32 >> free.trailing_zeros().min(5);
    (free.count_ones() == groups.trailing_zeros()).then_some(groups)
}

/// Whether an instruction computes one integer from others in a simple way.
fn is_simple(view: &View<'_>) -> bool {
    let is_integer = |kind: TypeKind| matches!(kind, TypeKind::Signed | TypeKind::Unsigned | TypeKind::Bits);
    let op = match view.op() {
        Some(Op::Mov | Op::Add | Op::Sub | Op::Mul | Op::Mad | Op::Neg | Op::Min | Op::Max | Op::Cvt) => true,
        Some(Op::And | Op::Or | Op::Xor | Op::Not | Op::Shl | Op::Shr | Op::Selp) => true,
        Some(Op::Cvta) => !view.form.has(Mod::Local),
        _ => false,
    };
    op && view.form.vector() == 1
        && view.form.types().iter().all(|ty| is_integer(ty.kind()))
        && !view.reads_carry()
        && !view.writes_carry()
}
