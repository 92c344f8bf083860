//! Shadows of registers, and how they are computed with.
//!
//! A bit of a shadow is one where the bit of the register is undefined. The shadow of a predicate has 32 bits, and the
//! predicate is undefined if any of them is one: NVIDIA's assembler has seven predicates, and shadows live long.

use ptx::ir::{Guard, Operand, Reg, StmtId, Var};
use ptx::types::{Type, TypeKind};
use rewrite::Cursor;
use rustc_hash::{FxHashMap, FxHashSet};

use super::version::{Follows, ShadowPlace, Version};

/// The shadows of the registers of a function.
#[derive(Debug)]
pub(super) struct Shadows {
    /// Those of registers that may be undefined.
    pub(super) of: FxHashMap<Reg, Reg>,
    /// That of the carry flag.
    pub(super) carry: Option<Reg>,
    /// What the thread loaded last that is undefined: see [`super::defined`].
    pub(super) origin: Option<Reg>,
    /// Whether shared memory has a shadow.
    pub(super) shared: SharedShadow,
    /// Where that is.
    pub(super) shared_place: ShadowPlace,
    /// Which memory loads look at.
    pub(super) follows: Follows,
    /// How far the shadows of local variables are from them, of those that are followed.
    pub(super) locals: FxHashMap<Var, Reg>,
    /// The loads from these.
    pub(super) local_loads: FxHashSet<StmtId>,
    /// The loads of parameters and results that may be undefined.
    pub(super) passed: FxHashMap<StmtId, Layout>,
    /// The shadows of the parts of a result whose other parts are not loaded yet: the register, bits, and where the shadow is.
    pub(super) result: Vec<(Option<Reg>, u32, Reg)>,
    /// Which loads have nothing between them that changes memory: those with the same number.
    pub(super) epochs: FxHashMap<StmtId, u32>,
    /// The shadows of what loads load, of those that were looked at together with an earlier one.
    pub(super) loaded: FxHashMap<StmtId, Vec<(Reg, Operand)>>,
}

impl Shadows {
    /// Of a function in which no register has a shadow yet.
    pub(super) fn new(shared: SharedShadow, version: Version, epochs: FxHashMap<StmtId, u32>) -> Self {
        let (of, follows, shared_place) = (FxHashMap::default(), version.follows, version.shared_shadow);
        let (locals, local_loads, passed, result, loaded) = Default::default();
        Self {
            of,
            carry: None,
            origin: None,
            shared,
            shared_place,
            follows,
            locals,
            local_loads,
            passed,
            result,
            epochs,
            loaded,
        }
    }
}

/// Whether the shared memory of a block has a shadow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SharedShadow {
    /// All of it counts as defined.
    No,
    Yes,
    /// The launch says: of functions that kernels of both kinds call.
    Unknown,
}

/// What a parameter or a result has behind its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// How many bytes the value has, and the shadow.
    pub(super) bytes: u64,
    /// Whether it says where undefined values were loaded.
    pub(super) has_origin: bool,
    /// Whether it is a result.
    pub(super) is_result: bool,
    /// The last load of it.
    pub(super) last_load: Option<StmtId>,
}

impl Layout {
    /// Where the shadow begins: at a multiple of whatever an access to the value is at a multiple of.
    pub(super) fn shadow(self) -> u64 {
        if self.bytes <= 32 { self.bytes.next_power_of_two() } else { self.bytes.next_multiple_of(32) }
    }

    /// Where is said where undefined values were loaded.
    pub(super) fn origin(self) -> u64 {
        (self.shadow() + self.bytes).next_multiple_of(8)
    }

    /// How many bytes the variable has.
    pub(super) fn total(self) -> u64 {
        self.origin() + if self.has_origin { 8 } else { 0 }
    }
}

/// The untyped register type of so many bits.
pub(super) fn bits_type(bits: u32) -> Type {
    match bits {
        16 => Type::B16,
        64 => Type::B64,
        _ => Type::B32,
    }
}

/// Computes with shadows, before an instruction.
#[derive(Debug)]
pub(super) struct Compute<'c, 'e, 'm> {
    pub(super) at: &'c mut Cursor<'e, 'm>,
    pub(super) shadows: &'c mut Shadows,
}

/// A shadow that is known to be zero.
pub(super) const DEFINED: Operand = Operand::Int(0);

/// Whether a shadow is known to be zero.
pub(super) fn is_defined(shadow: Operand) -> bool {
    shadow == DEFINED
}

impl Compute<'_, '_, '_> {
    /// How many bits the shadow of a register has.
    pub(super) fn bits(&mut self, reg: Reg) -> u32 {
        let ty = self.at.editor().function().reg_type(reg);
        if ty.kind() == TypeKind::Pred { 32 } else { ty.bits() }
    }

    /// The shadow of an operand.
    pub(super) fn of(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(reg) | Operand::Not(reg) | Operand::Neg(reg) | Operand::Part(reg, _) => self.of_reg(reg),
            _ => DEFINED,
        }
    }

    pub(super) fn of_reg(&self, reg: Reg) -> Operand {
        self.shadows.of.get(&reg).map_or(DEFINED, |shadow| Operand::Reg(*shadow))
    }

    /// The result of an instruction, in a fresh register.
    pub(super) fn inst(&mut self, spelling: &str, bits: u32, operands: &[Operand]) -> Operand {
        let reg = self.at.reg(bits_type(bits));
        let mut all = vec![reg.into()];
        all.extend_from_slice(operands);
        self.at.before().inst(spelling, &all);
        reg.into()
    }

    pub(super) fn or(&mut self, bits: u32, one: Operand, other: Operand) -> Operand {
        match (is_defined(one), is_defined(other)) {
            (true, _) => other,
            (_, true) => one,
            _ if one == other => one,
            _ => self.inst(&format!("or.b{bits}"), bits, &[one, other]),
        }
    }

    pub(super) fn and(&mut self, bits: u32, one: Operand, other: Operand) -> Operand {
        self.inst(&format!("and.b{bits}"), bits, &[one, other])
    }

    pub(super) fn not(&mut self, bits: u32, value: Operand) -> Operand {
        let value = self.in_register(bits, value);
        self.inst(&format!("not.b{bits}"), bits, &[value])
    }

    /// An operand that may be a constant, in a register.
    pub(super) fn in_register(&mut self, bits: u32, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(_) => operand,
            _ => self.inst(&format!("mov.b{bits}"), bits, &[operand]),
        }
    }

    /// A predicate that holds where a shadow is not zero.
    pub(super) fn is_any(&mut self, bits: u32, shadow: Operand) -> Reg {
        let any = self.at.reg(Type::Pred);
        self.at.before().inst(&format!("setp.ne.b{bits}"), &[any.into(), shadow, 0.into()]);
        any
    }

    /// All bits of one where any bit of another is.
    pub(super) fn all_if_any(&mut self, bits: u32, shadow: Operand, to: u32) -> Operand {
        if is_defined(shadow) {
            return DEFINED;
        }
        let any = self.is_any(bits, shadow);
        self.inst(&format!("selp.b{to}"), to, &[Operand::Int(-1), 0.into(), any.into()])
    }

    /// All bits from the lowest on that is one.
    pub(super) fn spread_up(&mut self, bits: u32, shadow: Operand) -> Operand {
        if is_defined(shadow) {
            return DEFINED;
        }
        let negated = self.inst(&format!("neg.s{bits}"), bits, &[shadow]);
        self.or(bits, shadow, negated)
    }

    /// 32 bits of which some is one where any bit of a shadow is.
    pub(super) fn any32(&mut self, bits: u32, shadow: Operand) -> Operand {
        match bits {
            _ if is_defined(shadow) => DEFINED,
            32 => shadow,
            16 => self.inst("cvt.u32.u16", 32, &[shadow]),
            _ => {
                let [low, high] = [self.at.reg(Type::B32), self.at.reg(Type::B32)];
                let mut builder = self.at.before();
                let halves = builder.vector(&[low.into(), high.into()]);
                builder.inst("mov.b64", &[halves, shadow]);
                self.or(32, low.into(), high.into())
            }
        }
    }

    /// 32 bits of which some is one where any bit of the shadows of some registers is.
    pub(super) fn any_of(&mut self, regs: impl Iterator<Item = Reg>) -> Operand {
        let mut any = DEFINED;
        for reg in regs {
            let (bits, shadow) = (self.bits(reg), self.of_reg(reg));
            let part = self.any32(bits, shadow);
            any = self.or(32, any, part);
        }
        any
    }

    /// As many bits of a shadow, or zeros above it.
    pub(super) fn resized(&mut self, from: u32, shadow: Operand, to: u32) -> Operand {
        if is_defined(shadow) || from == to {
            return shadow;
        }
        self.inst(&format!("cvt.u{to}.u{from}"), to, &[shadow])
    }

    /// Gives a register its shadow, where the guard of its instruction holds. Where it is undefined whether it holds, so is
    /// the register.
    pub(super) fn set(&mut self, reg: Reg, shadow: Operand, guard: Option<Guard>) {
        let Some(&to) = self.shadows.of.get(&reg) else { return };
        let bits = self.bits(reg);
        let spelling = format!("mov.b{bits}");
        self.at.before().inst_if(guard, &spelling, &[to.into(), shadow]);
        let of_guard = guard.map_or(DEFINED, |guard| self.of_reg(guard.reg));
        if !is_defined(of_guard) {
            let any = self.is_any(32, of_guard);
            self.at.before().guarded(Guard::when(any), &spelling, &[to.into(), Operand::Int(-1)]);
        }
    }
}
