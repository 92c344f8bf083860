//! Types of operands (PTX manual, "Operand Type Checking").

use super::Verifier;
use crate::form::Form;
use crate::ir::{Operand, Reg, StmtId};
use crate::ops::{Mod, Op, OperandType};
use crate::types::{Type, TypeKind};

impl Verifier<'_> {
    pub(super) fn check_value(
        &mut self,
        id: StmtId,
        form: &Form,
        index: usize,
        operand: &Operand,
        ty: OperandType,
        written: bool,
    ) {
        let expected = match ty {
            OperandType::Any => return,
            OperandType::Immediate => {
                if !operand.is_immediate() {
                    self.error(id, Some(index), "this operand must be a number".to_owned());
                }
                return;
            }
            OperandType::Fixed(ty) => Some(ty),
            OperandType::Nth(nth) => form.nth_type(nth.into()),
            OperandType::Last | OperandType::Packed => form.types().last().copied(),
            OperandType::Wide => form.nth_type(0).map(|ty| if form.has(Mod::Wide) { twice(ty) } else { ty }),
        };
        let Some(expected) = expected else { return };
        let rule = Rule { expected, may_be_wider: may_be_wider(form) };
        match operand {
            Operand::Vector(list) => {
                let elements = self.body.operands(*list).to_vec();
                self.check_vector(id, form, index, &elements, ty, rule);
            }
            operand => self.check_scalar(id, index, operand, rule, written),
        }
    }

    fn check_vector(
        &mut self,
        id: StmtId,
        form: &Form,
        index: usize,
        elements: &[Operand],
        ty: OperandType,
        rule: Rule,
    ) {
        if ty == OperandType::Packed {
            self.check_packed(id, index, elements, rule.expected);
            return;
        }
        let vector = form.vector() as usize;
        if elements.len() != vector {
            let what = if vector == 1 { "a single value".to_owned() } else { format!("a vector of {vector}") };
            let message = format!("`{}` takes {what}, but {} elements are given", form.spelling(), elements.len());
            self.error(id, Some(index), message);
            return;
        }
        for element in elements {
            self.check_scalar(id, index, element, rule, false);
        }
    }

    /// `mov.b64 {%r1, %r2}, %rd1`: elements of equal size that together have the size of the type.
    fn check_packed(&mut self, id: StmtId, index: usize, elements: &[Operand], expected: Type) {
        let Some(len) = u32::try_from(elements.len()).ok().filter(|&len| len > 0) else {
            self.error(id, Some(index), "a vector must have elements".to_owned());
            return;
        };
        let bits = expected.bits() / len;
        for element in elements {
            if let Operand::Reg(reg) = *element
                && (self.function.reg_type(reg).bits() != bits || bits * len != expected.bits())
            {
                let message = format!(
                    "`{}` is a register of type `.{}`, but {len} elements of a `.{expected}` have {bits} bits each",
                    self.reg_name(reg),
                    self.function.reg_type(reg),
                );
                self.error(id, Some(index), message);
                return;
            }
        }
    }

    pub(super) fn check_pair(&mut self, id: StmtId, form: &Form, index: usize, operand: &Operand, ty: OperandType) {
        let second = match *operand {
            Operand::Pair(first, second) => {
                if let Some(reg) = first.reg() {
                    self.check_value(id, form, index, &Operand::Reg(reg), ty, true);
                }
                second
            }
            Operand::VectorPair(list, second) => {
                self.check_value(id, form, index, &Operand::Vector(list), ty, true);
                second
            }
            _ => return self.check_value(id, form, index, operand, ty, true),
        };
        if let Some(reg) = second.reg() {
            self.check_reg(id, index, reg, Rule { expected: Type::Pred, may_be_wider: false });
        }
    }

    fn check_scalar(&mut self, id: StmtId, index: usize, operand: &Operand, rule: Rule, written: bool) {
        let expected = rule.expected;
        match *operand {
            Operand::Reg(reg) => self.check_reg(id, index, reg, rule),
            Operand::Not(reg) | Operand::Neg(reg) => self.check_reg(id, index, reg, rule),
            Operand::F32(_) | Operand::F64(_)
                if matches!(expected.kind(), TypeKind::Unsigned | TypeKind::Signed | TypeKind::Pred) =>
            {
                let message = format!("a floating-point number is given where `.{expected}` is expected");
                self.error(id, Some(index), message);
            }
            _ if written && operand.is_immediate() => {
                self.error(id, Some(index), "a number cannot be written to".to_owned());
            }
            _ => {}
        }
    }

    fn check_reg(&mut self, id: StmtId, index: usize, reg: Reg, rule: Rule) {
        let group = &self.function.groups[self.function.regs[reg].group];
        // A vector register stands for all its elements; only their parts are checked by ptxas.
        if group.vector > 1 || rule.accepts(group.ty) {
            return;
        }
        let message = format!(
            "`{}` is a register of type `.{}`, but `.{}` is expected here",
            self.reg_name(reg),
            group.ty,
            rule.expected
        );
        self.error(id, Some(index), message);
    }
}

/// What a register must be.
#[derive(Clone, Copy)]
struct Rule {
    expected: Type,
    /// Loads, stores and conversions take registers that are wider than the type.
    may_be_wider: bool,
}

impl Rule {
    fn accepts(self, found: Type) -> bool {
        let Self { expected, may_be_wider } = self;
        let size_fits = found.bits() == expected.bits() || (may_be_wider && found.bits() > expected.bits());
        if found == expected {
            return true;
        }
        if expected == Type::Pred || found == Type::Pred {
            return false;
        }
        match expected.kind() {
            // 16-bit floats live in untyped registers or in `.f16`, `.u16` alike, as compilers please.
            _ if expected == Type::F16 => size_fits,
            TypeKind::Float => {
                (found.bits() == expected.bits() && matches!(found.kind(), TypeKind::Bits | TypeKind::Packed))
                    || (may_be_wider && found.kind() == TypeKind::Bits && size_fits)
            }
            TypeKind::Unsigned | TypeKind::Signed => size_fits && found.kind() != TypeKind::Float,
            TypeKind::Bits => size_fits,
            // Formats of less than a byte or with several numbers are kept in whatever register has the room.
            TypeKind::Packed => found.bits() >= expected.bits(),
            TypeKind::Opaque => found.bits() == 64,
            TypeKind::Pred => false,
        }
    }
}

fn may_be_wider(form: &Form) -> bool {
    use crate::ops::Effect;
    matches!(form.effect(), Some(Effect::Load | Effect::Store | Effect::TextureLoad | Effect::SurfaceStore))
        || matches!(form.op(), Some(Op::Cvt))
}

fn twice(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        ty => ty,
    }
}
