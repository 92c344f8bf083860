//! Registers that faults strike: of which kind they are, and by which number helpers know them.

use ptx::entity::Id;
use ptx::ir::Reg;
use ptx::types::TypeKind;
use rewrite::Cursor;

/// How a register is given to helpers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Predicate,
    Bits16,
    Half,
    Bits32,
    Float,
    Bits64,
    Double,
}

impl Kind {
    /// Of a register; nothing for those that are not struck: bytes, 128 bits, and vectors.
    pub(super) fn of(at: &mut Cursor<'_, '_>, reg: Reg) -> Option<Self> {
        let function = at.editor().function();
        if function.groups[function.regs[reg].group].vector != 1 {
            return None;
        }
        let ty = function.reg_type(reg);
        Some(match (ty.kind(), ty.bits()) {
            (TypeKind::Pred, _) => Self::Predicate,
            (TypeKind::Float, 16) => Self::Half,
            (TypeKind::Float, 32) => Self::Float,
            (TypeKind::Float, 64) => Self::Double,
            (TypeKind::Float, _) => return None,
            (_, 16) => Self::Bits16,
            (_, 32) => Self::Bits32,
            (_, 64) => Self::Bits64,
            _ => return None,
        })
    }

    pub(super) fn size(self) -> u32 {
        match self {
            Self::Predicate => 1,
            Self::Bits16 | Self::Half => 16,
            Self::Bits32 | Self::Float => 32,
            Self::Bits64 | Self::Double => 64,
        }
    }
}

/// The number by which helpers know a register of a function: most kernels call few functions, with few registers.
pub(super) fn register_number(func: u32, reg: Reg) -> u32 {
    (func << 20) ^ reg.index() as u32
}
