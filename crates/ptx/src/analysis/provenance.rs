//! Where pointers come from: the parameter that was loaded, or the variable whose address was taken.
//!
//! A pointer plus a number is a pointer to the same object, however the number came about; C++ says so, and checkers of
//! memory hold programs to it. The analysis is one of registers, not of places in the text: a register that holds
//! pointers to two objects at different times has an unknown origin. Compilers write every value into a register of its
//! own, so little is lost.

use crate::entity::Map;
use crate::ir::{Function, FunctionKind, Module, Operand, Reg, Symbol, Var};
use crate::ops::{Effect, Mod, Op};
use crate::types::{Space, TypeKind};
use crate::view::View;

/// The origins of all registers of a function.
#[derive(Clone, Debug)]
pub struct Provenance {
    values: Map<Reg, PointerValue>,
}

/// What a register can hold, as far as pointers are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerValue {
    /// It is never written.
    Nothing,
    /// A number that is no pointer by itself.
    Number {
        /// It is a multiple of two to this power.
        align: u8,
    },
    /// A pointer into one object.
    Pointer {
        /// The object.
        root: Root,
        /// Its distance from the root is a multiple of two to this power.
        align: u8,
    },
    /// Anything.
    Unknown,
}

/// What a pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Root {
    /// Whatever the kernel's caller passed: the 64 bits at an offset of a parameter.
    Param {
        /// The parameter.
        var: Var,
        /// The offset in bytes.
        offset: i32,
        /// Whether the text says that it is a pointer; else it may be a number.
        is_pointer: bool,
    },
    /// A variable of the module.
    Global(crate::ir::Global),
    /// A variable of the function.
    Var(Var),
}

/// Alignments beyond this are not told apart: no access is larger.
const MOST_ALIGN: u8 = 7;
/// After so many rounds the function is given up: everything is unknown.
const MOST_ROUNDS: usize = 24;

impl Provenance {
    /// The origins of the registers of a function.
    pub fn of(module: &Module, function: &Function) -> Self {
        let mut provenance = Self { values: Map::filled(function.regs.len(), PointerValue::Nothing) };
        let Some(body) = &function.body else { return provenance };
        // Parameters in registers may be anything.
        for param in &function.params {
            if let crate::ir::Param::Reg(group) = *param {
                for (reg, info) in function.regs.iter() {
                    if info.group == group {
                        provenance.values[reg] = PointerValue::Unknown;
                    }
                }
            }
        }
        for round in 0.. {
            let mut changed = false;
            for id in body.iter() {
                let Some(view) = View::of(&module.forms, body, id) else { continue };
                changed |= provenance.step(function, &view);
            }
            if !changed {
                break;
            }
            if round == MOST_ROUNDS {
                provenance.values = Map::filled(function.regs.len(), PointerValue::Unknown);
                break;
            }
        }
        provenance
    }

    /// What a register can hold.
    pub fn value(&self, reg: Reg) -> PointerValue {
        self.values[reg]
    }

    /// What an address in brackets points to, with the constant that is added to it. The alignment includes the constant.
    pub fn address(&self, operand: &Operand) -> PointerValue {
        match *operand {
            Operand::RegAddress(reg, offset) => self.value(reg).plus(PointerValue::number(offset.into())),
            Operand::SymbolAddress(symbol, offset) => of_symbol(symbol)
                .map_or(PointerValue::Unknown, |pointer| pointer.plus(PointerValue::number(offset.into()))),
            _ => PointerValue::Unknown,
        }
    }

    /// Takes an instruction into account; whether that told anything new.
    fn step(&mut self, function: &Function, view: &View<'_>) -> bool {
        let operands = view.operands();
        if let (Some(Op::Ld | Op::Ldu), Some(address)) = (view.op(), operands.get(1))
            && view.form.spaces().next() == Some(Space::Param)
            && function.kind == FunctionKind::Entry
            && view.form.types().last().is_some_and(|ty| ty.bits() == 64)
            && let Operand::SymbolAddress(Symbol::Var(var), offset) = *address
        {
            return self.load_of_params(function, view, var, offset);
        }
        let value = self.result(view);
        let mut changed = false;
        view.for_each_write(|reg| changed |= self.join(reg, value));
        changed
    }

    fn load_of_params(&mut self, function: &Function, view: &View<'_>, var: Var, offset: i32) -> bool {
        let is_pointer = function.vars[var].pointer.is_some();
        let mut changed = false;
        let mut set = |operand: &Operand, index: usize| {
            if let Operand::Reg(reg) = *operand {
                let offset = offset + 8 * index as i32;
                let root = Root::Param { var, offset, is_pointer };
                changed |= self.join(reg, PointerValue::Pointer { root, align: MOST_ALIGN });
            }
        };
        match view.operands().first() {
            Some(&Operand::Vector(list)) => {
                for (index, operand) in view.body.operands(list).iter().enumerate() {
                    set(operand, index);
                }
            }
            Some(operand) => set(operand, 0),
            None => {}
        }
        changed
    }

    /// What an instruction writes.
    fn result(&self, view: &View<'_>) -> PointerValue {
        let operands = view.operands();
        let read = |index: usize| operands.get(index).map_or(PointerValue::Unknown, |operand| self.read(operand));
        match view.op() {
            Some(Op::Mov | Op::Cvta | Op::Cvt) if operands.len() == 2 => match (view.op(), read(1)) {
                // A cast to fewer bits keeps what is below; a conversion of floats is no pointer.
                (Some(Op::Cvt), _) if view.form.types().iter().any(|ty| ty.kind() == TypeKind::Float) => {
                    PointerValue::Number { align: 0 }
                }
                (_, value) => value,
            },
            Some(Op::Add) => read(1).plus(read(2)),
            Some(Op::Sub) => read(1).minus(read(2)),
            // Compilers write `or` where the bits are known to be apart.
            Some(Op::Or) => read(1).plus(read(2)),
            Some(Op::Mul) => read(1).times(read(2), view),
            Some(Op::Mad) => read(1).times(read(2), view).plus(read(3)),
            Some(Op::Shl) => match operands.get(2).and_then(|operand| operand.as_int()) {
                Some(bits @ 0..64) => PointerValue::Number { align: (read(1).align() + bits as u8).min(MOST_ALIGN) },
                _ => PointerValue::Number { align: 0 },
            },
            Some(Op::And) => {
                let mask = |index: usize| operands.get(index).and_then(|operand| operand.as_int());
                match (read(1), read(2), mask(1).or(mask(2))) {
                    (PointerValue::Pointer { .. } | PointerValue::Unknown, ..) => PointerValue::Unknown,
                    (_, PointerValue::Pointer { .. } | PointerValue::Unknown, _) => PointerValue::Unknown,
                    (a, b, mask) => {
                        let of_mask = mask.map_or(0, |mask| mask.trailing_zeros().min(MOST_ALIGN.into()) as u8);
                        PointerValue::Number { align: of_mask.max(a.align()).max(b.align()) }
                    }
                }
            }
            Some(Op::Selp) => read(1).or(read(2)),
            _ if view.effect() == Some(Effect::Pure) => {
                let is_number = |operand: &Operand| {
                    matches!(self.read(operand), PointerValue::Number { .. } | PointerValue::Nothing)
                };
                if operands.iter().skip(1).all(is_number) {
                    PointerValue::Number { align: 0 }
                } else {
                    PointerValue::Unknown
                }
            }
            _ => PointerValue::Unknown,
        }
    }

    fn read(&self, operand: &Operand) -> PointerValue {
        match *operand {
            Operand::Reg(reg) => self.values[reg],
            Operand::Special(_) | Operand::F32(_) | Operand::F64(_) => PointerValue::Number { align: 0 },
            Operand::Symbol(symbol, offset) => of_symbol(symbol)
                .map_or(PointerValue::Unknown, |pointer| pointer.plus(PointerValue::number(offset.into()))),
            _ => operand.as_int().map_or(PointerValue::Unknown, PointerValue::number),
        }
    }

    fn join(&mut self, reg: Reg, value: PointerValue) -> bool {
        let joined = self.values[reg].or(value);
        std::mem::replace(&mut self.values[reg], joined) != joined
    }
}

fn of_symbol(symbol: Symbol) -> Option<PointerValue> {
    let root = match symbol {
        Symbol::Global(global) => Root::Global(global),
        Symbol::Var(var) => Root::Var(var),
        Symbol::Func(_) | Symbol::Label(_) | Symbol::Undeclared(_) => return None,
    };
    Some(PointerValue::Pointer { root, align: MOST_ALIGN })
}

impl Root {
    /// Whether it can only be a pointer.
    fn is_certain(self) -> bool {
        !matches!(self, Self::Param { is_pointer: false, .. })
    }
}

impl PointerValue {
    fn number(value: i64) -> Self {
        Self::Number { align: value.trailing_zeros().min(MOST_ALIGN.into()) as u8 }
    }

    /// Of which power of two it is a multiple, as a number.
    fn align(self) -> u8 {
        match self {
            Self::Number { align } => align,
            Self::Nothing => MOST_ALIGN,
            _ => 0,
        }
    }

    /// One or the other.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, value) | (value, Self::Nothing) => value,
            (Self::Number { align: one }, Self::Number { align: other }) => Self::Number { align: one.min(other) },
            (Self::Pointer { root, align: one }, Self::Pointer { root: same, align: other }) if root == same => {
                Self::Pointer { root, align: one.min(other) }
            }
            _ => Self::Unknown,
        }
    }

    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::Number { align: one }, Self::Number { align: other }) => Self::Number { align: one.min(other) },
            (Self::Pointer { root, align }, Self::Number { align: other })
            | (Self::Number { align: other }, Self::Pointer { root, align }) => {
                Self::Pointer { root, align: align.min(other) }
            }
            // The sum of two pointers is none, so one of them is a number.
            (Self::Pointer { root, .. }, Self::Unknown) | (Self::Unknown, Self::Pointer { root, .. })
                if root.is_certain() =>
            {
                Self::Pointer { root, align: 0 }
            }
            (Self::Pointer { root: one, .. }, Self::Pointer { root: other, .. }) => {
                match (one.is_certain(), other.is_certain()) {
                    (true, false) => Self::Pointer { root: one, align: 0 },
                    (false, true) => Self::Pointer { root: other, align: 0 },
                    _ => Self::Unknown,
                }
            }
            _ => Self::Unknown,
        }
    }

    fn minus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Pointer { root, align }, Self::Number { align: other }) => {
                Self::Pointer { root, align: align.min(other) }
            }
            (Self::Pointer { .. }, Self::Pointer { .. }) => Self::Number { align: 0 },
            (Self::Pointer { root, .. }, Self::Unknown) if root.is_certain() => Self::Pointer { root, align: 0 },
            (Self::Number { align: one }, Self::Number { align: other }) => Self::Number { align: one.min(other) },
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            _ => Self::Unknown,
        }
    }

    /// A product is a number, whatever its factors were.
    fn times(self, other: Self, view: &View<'_>) -> Self {
        let is_low = !view.form.has(Mod::Hi);
        let align = if is_low { (self.align() + other.align()).min(MOST_ALIGN) } else { 0 };
        Self::Number { align }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(body: &str) -> Vec<PointerValue> {
        let text = format!(
            ".version 9.0\n.target sm_80\n.address_size 64\n.global .b8 table[64];\n\
             .visible .entry k(.param .u64 .ptr .align 1 p, .param .u64 n) {{\n\
             .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{body}\nret; }}"
        );
        let parsed = crate::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let module = parsed.module;
        let function = &module.functions[module.function("k").unwrap()];
        let provenance = Provenance::of(&module, function);
        let last = function.body.as_ref().unwrap().insts().map(|(id, _)| id).filter_map(|id| {
            let view = View::of(&module.forms, function.body.as_ref().unwrap(), id)?;
            view.writes().first().copied()
        });
        last.map(|reg| provenance.value(reg)).collect()
    }

    fn param(name: usize, align: u8) -> PointerValue {
        use crate::entity::Id;
        let root = Root::Param { var: Var::new(name), offset: 0, is_pointer: name == 0 };
        PointerValue::Pointer { root, align }
    }

    #[test]
    fn an_index_is_added() {
        let found = values(
            "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x;\n\
             mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;",
        );
        assert_eq!(found[4], param(0, 2));
    }

    #[test]
    fn a_pointer_that_moves_on_stays_in_its_object() {
        let found = values("ld.param.u64 %rd1, [p]; mov.u64 %rd2, %rd1; again: add.s64 %rd2, %rd2, 8; bra again;");
        assert_eq!(found[1], param(0, 3));
    }

    #[test]
    fn a_number_may_be_added_that_was_loaded() {
        let found = values("ld.param.u64 %rd1, [p]; ld.global.u64 %rd2, [%rd1]; add.s64 %rd3, %rd1, %rd2;");
        assert_eq!(found[2], param(0, 0));
        // What may be a number or a pointer is neither.
        let found = values("ld.param.u64 %rd1, [n]; ld.global.u64 %rd2, [table]; add.s64 %rd3, %rd1, %rd2;");
        assert_eq!(found[2], PointerValue::Unknown);
    }

    #[test]
    fn one_of_two_objects_is_unknown() {
        let found = values(
            "ld.param.u64 %rd1, [p]; mov.u64 %rd2, table; setp.ne.u64 %p1, %rd1, 0; selp.b64 %rd3, %rd1, %rd2, %p1;",
        );
        assert_eq!(found[3], PointerValue::Unknown);
    }
}
