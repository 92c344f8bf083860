//! Where the value of an argument lives once there is no call any more.
//!
//! The loads and stores of a `.param` variable, in the caller and in the callee, cut it into pieces. If no two of them
//! overlap in part, each piece becomes a register, and loads and stores become moves and conversions, which do to the
//! value what narrow loads and stores do: `st.param.b8` of a wide register keeps the low byte, `ld.param.s8` extends
//! the sign. If they overlap, or the callee takes the address, the variable becomes one in local memory.

use smallvec::SmallVec;

use crate::edit::builder::Builder;
use crate::edit::copy::Renaming;
use crate::edit::editor::Editor;
use crate::ir::{Function, Guard, Operand, Reg, Symbol, TagId, Var};
use crate::types::{Type, TypeKind};

/// Where the value of an argument lives.
pub(super) enum Slot {
    /// In registers, one for each piece. None if nobody looks at it.
    Pieces(Vec<Piece>),
    /// In a variable in local memory.
    Local(Var),
}

/// A part of an argument.
pub(super) struct Piece {
    offset: i32,
    reg: Reg,
}

/// A load or store of a parameter.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) offset: i32,
    pub(super) guard: Option<Guard>,
    ty: Type,
    elements: SmallVec<[Operand; 4]>,
    is_load: bool,
    /// Whether registers can take the place of memory.
    is_plain: bool,
}

/// An instruction without its guard.
type Move = (String, [Operand; 2]);

impl Access {
    pub(super) fn new(
        function: &Function,
        ty: Type,
        offset: i32,
        elements: SmallVec<[Operand; 4]>,
        count: usize,
        is_load: bool,
        guard: Option<Guard>,
    ) -> Self {
        let is_plain_element = |operand: &Operand| match *operand {
            Operand::Reg(reg) => {
                let group = &function.groups[function.regs[reg].group];
                let is_same_width = group.ty.bits() == ty.bits();
                let can_convert = group.ty.bits() >= ty.bits() && group.ty.kind() != TypeKind::Float;
                group.vector == 1 && (is_same_width || can_convert)
            }
            Operand::Sink => is_load,
            operand => operand.is_immediate() && !is_load,
        };
        let is_plain = elements.len() == count && elements.iter().all(is_plain_element);
        Self { offset, guard, ty, elements, is_load, is_plain }
    }

    /// The access that a register or constant makes by being passed.
    pub(super) fn whole(ty: Type, operand: Operand) -> Self {
        let elements = SmallVec::from_slice(&[operand]);
        Self { offset: 0, guard: None, ty, elements, is_load: false, is_plain: true }
    }

    /// Which operand of the instruction is the address.
    pub(super) fn address_index(&self) -> usize {
        usize::from(self.is_load)
    }

    /// The same access with the registers that the copy has.
    pub(super) fn renamed(&self, renaming: &Renaming) -> Self {
        let mut access = self.clone();
        for element in &mut access.elements {
            if let Operand::Reg(reg) = element {
                *reg = renaming.reg(*reg);
            }
        }
        if let Some(guard) = &mut access.guard {
            guard.reg = renaming.reg(guard.reg);
        }
        access
    }

    fn parts(&self) -> impl Iterator<Item = (i32, Operand)> {
        let bytes = self.ty.bytes() as i32;
        self.elements.iter().zip(0..).map(move |(&element, index)| (self.offset + index * bytes, element))
    }

    /// What the load or store is when the pieces are registers. `function` is the one with the registers of the access.
    pub(super) fn moves(&self, function: &Function, pieces: &[Piece]) -> Vec<Move> {
        let mut moves = Vec::new();
        for (offset, element) in self.parts() {
            if element == Operand::Sink {
                continue;
            }
            let piece = pieces.iter().find(|piece| piece.offset == offset).expect("every access has its pieces");
            let reg_type = match element {
                Operand::Reg(reg) => Some(function.reg_type(reg)),
                _ => None,
            };
            moves.push(if self.is_load {
                let ty = reg_type.expect("only registers are loaded");
                (load_spelling(self.ty, ty), [element, piece.reg.into()])
            } else {
                (store_spelling(self.ty, reg_type), [piece.reg.into(), element])
            });
        }
        moves
    }
}

/// Cuts an argument into pieces; nothing if that is not possible.
pub(super) fn pieces(editor: &mut Editor<'_>, accesses: &[&Access], tag: TagId) -> Option<Vec<Piece>> {
    if !accesses.iter().all(|access| access.is_plain) {
        return None;
    }
    let mut parts: Vec<(i32, u32, Type)> = accesses
        .iter()
        .flat_map(|access| access.parts().map(|(offset, _)| (offset, access.ty.bytes(), piece_type(access.ty))))
        .collect();
    parts.sort_unstable();
    parts.dedup();
    let overlap = |pair: &[(i32, u32, Type)]| i64::from(pair[0].0) + i64::from(pair[0].1) > i64::from(pair[1].0);
    if parts.windows(2).any(overlap) {
        return None;
    }
    Some(parts.into_iter().map(|(offset, _, ty)| Piece { offset, reg: editor.reg(tag, ty) }).collect())
}

impl Slot {
    /// Stores a register or constant as the whole value.
    pub(super) fn store(&self, builder: &mut Builder<'_, '_>, ty: Type, value: Operand) {
        match self {
            Self::Pieces(pieces) => {
                let access = Access::whole(ty, value);
                for (spelling, operands) in access.moves(builder.editor().function(), pieces) {
                    builder.inst(&spelling, &operands);
                }
            }
            Self::Local(local) => {
                let address = Operand::SymbolAddress(Symbol::Var(*local), 0);
                builder.inst(&format!("st.local.{}", memory_type(ty)), &[address, value]);
            }
        }
    }

    /// Loads the whole value into a register.
    pub(super) fn load(&self, builder: &mut Builder<'_, '_>, ty: Type, register: Operand) {
        match self {
            Self::Pieces(pieces) => {
                let access = Access { is_load: true, ..Access::whole(ty, register) };
                for (spelling, operands) in access.moves(builder.editor().function(), pieces) {
                    builder.inst(&spelling, &operands);
                }
            }
            Self::Local(local) => {
                let address = Operand::SymbolAddress(Symbol::Var(*local), 0);
                builder.inst(&format!("ld.local.{}", memory_type(ty)), &[register, address]);
            }
        }
    }
}

/// The type of the register for a piece. There are no arithmetic registers of 8 bits: the upper half is not looked at.
fn piece_type(ty: Type) -> Type {
    match ty {
        Type::Pred => Type::Pred,
        ty => Type::bits_of(ty.bits().max(16)).expect("parameters have the sizes of registers"),
    }
}

/// The type in which a register of a type is loaded and stored.
fn memory_type(ty: Type) -> Type {
    match ty.kind() {
        TypeKind::Float if ty != Type::F16 => ty,
        _ => Type::bits_of(ty.bits()).expect("parameters have the sizes of registers"),
    }
}

/// Puts a register or constant into a piece as a store of the type would.
fn store_spelling(ty: Type, source: Option<Type>) -> String {
    let piece = piece_type(ty).bits();
    match source {
        _ if ty == Type::Pred => "mov.pred".to_owned(),
        None if matches!(ty, Type::F32 | Type::F64) => format!("mov.{ty}"),
        Some(source) if source.bits() != piece => format!("cvt.u{piece}.u{}", source.bits()),
        _ => format!("mov.b{piece}"),
    }
}

/// Puts a piece into a register as a load of the type would.
fn load_spelling(ty: Type, target: Type) -> String {
    let (bits, target) = (ty.bits(), target.bits());
    if ty == Type::Pred {
        "mov.pred".to_owned()
    } else if bits == target && bits >= 16 {
        format!("mov.b{bits}")
    } else if ty.kind() == TypeKind::Signed {
        format!("cvt.s{target}.s{bits}")
    } else {
        format!("cvt.u{target}.u{bits}")
    }
}
