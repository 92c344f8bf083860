//! What an access is checked against.

use ptx::analysis::{PointerValue, Root};
use ptx::ir::{Operand, Reg, Symbol, Variable};
use ptx::types::{Linkage, Space};
use ptx::view::{AccessBytes, AccessSpace};
use rewrite::{Access, Cursor};

use super::{alignment, is_aligned, slots};

/// What an access is checked against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Against {
    /// Nothing: it is certain that the access is good, if it is aligned.
    Nothing,
    /// The object that a parameter points into: where it begins, and how many bytes it has.
    Slot([Reg; 2]),
    /// A variable of so many bytes.
    Variable(Symbol, Space, u64),
    /// The shared memory whose size is given at launch.
    DynamicShared(Symbol),
    /// All shared memory.
    Shared,
    /// The shadow.
    Shadow,
}

impl Against {
    /// Whether it is memory in one piece, so that what is between two good bytes is good.
    pub(super) fn is_one_piece(self) -> bool {
        !matches!(self, Self::Nothing | Self::Shadow)
    }

    pub(super) fn of(at: &mut Cursor<'_, '_>, access: &Access, bytes: u32) -> Self {
        let space = access.access.space;
        let root = match access.pointer {
            PointerValue::Pointer { root, .. } => Some(root),
            _ => None,
        };
        let variable = match root {
            Some(Root::Global(global)) => Some((Symbol::Global(global), at.editor().module().globals[global].clone())),
            Some(Root::Var(var)) => Some((Symbol::Var(var), at.editor().function().vars[var].clone())),
            Some(Root::Param { var, offset, .. })
                if matches!(space, AccessSpace::Generic | AccessSpace::State(Space::Global)) =>
            {
                // Where offsets are multiples of the size, the pointer only has to be one.
                let align = if is_aligned(access, bytes) { alignment(access, bytes) } else { 1 };
                if at.is_kernel()
                    && is_long(at, access)
                    && let Some(bounds) = slots::bounds(at, var, offset, align)
                {
                    return Self::Slot(bounds);
                }
                None
            }
            _ => None,
        };
        if let Some((symbol, variable)) = variable {
            // Whoever takes the address of a shared variable for one of global memory gets a check of what is there.
            let fits = match space {
                AccessSpace::Generic => {
                    matches!(variable.space, Space::Global | Space::Const | Space::Shared | Space::Local)
                }
                AccessSpace::State(space) => space == variable.space,
                _ => false,
            };
            if fits {
                return Self::of_variable(at, access, symbol, &variable, bytes);
            }
        }
        match space {
            AccessSpace::State(Space::Shared) => Self::Shared,
            AccessSpace::State(Space::Local) => Self::Nothing,
            _ if is_long(at, access) => Self::Shadow,
            // Instructions that name no space and have such an address access shared memory.
            AccessSpace::Generic => Self::Shared,
            _ => Self::Nothing,
        }
    }

    fn of_variable(at: &mut Cursor<'_, '_>, access: &Access, symbol: Symbol, variable: &Variable, bytes: u32) -> Self {
        // The variable of another module may be larger than the declaration says.
        let Some(size) = variable.size().filter(|_| variable.linkage != Some(Linkage::Extern)) else {
            return if variable.space == Space::Shared { Self::DynamicShared(symbol) } else { Self::Shadow };
        };
        let view = at.editor().view(access.stmt).expect("accesses are made by instructions");
        if matches!(access.access.bytes, AccessBytes::Fixed(_))
            && let Operand::SymbolAddress(_, offset) = view.operands()[access.access.address]
            && u64::try_from(offset).is_ok_and(|offset| offset + u64::from(bytes) <= size)
        {
            return Self::Nothing;
        }
        Self::Variable(symbol, variable.space, size)
    }
}

/// Whether an address is one of 64 bits, and not an offset in a window.
fn is_long(at: &mut Cursor<'_, '_>, access: &Access) -> bool {
    let operand = at.editor().view(access.stmt).map(|view| view.operands()[access.access.address]);
    !matches!(operand, Some(Operand::RegAddress(reg, _)) if at.editor().function().reg_type(reg).bits() == 32)
}
