//! How the addresses of a memory access are spread over the lanes of a warp.

use super::uniformity::{Class, LaneValue, NoWrap, Signedness, Uniformity, WrapCheck};
use crate::ir::{List, Operand, Reg, StmtId, Symbol};
use crate::view::{AccessBytes, MemAccess, View};

/// The addresses that the lanes of a warp access with one instruction.
///
/// A pattern holds for the lanes that are active. Addresses are 64 bits wide, or, in shared memory and on 32-bit
/// targets, extended to that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressPattern {
    /// How addresses differ from lane to lane.
    pub shape: AddressShape,
    /// Where the address comes from.
    pub base: AddressBase,
    /// What is added to it, in bytes.
    pub offset: i64,
    /// A power of two, of which the addresses of all lanes are multiples.
    pub alignment: u64,
    /// Whether the shape holds only if the guards of [`Uniformity::guards`] hold on which the address was built.
    pub needs_guard: bool,
    /// What else must hold for the shape: that the base of the address, offset included, does not wrap at the end of 32
    /// bits.
    pub wrap_check: Option<WrapCheck>,
}

/// How addresses differ from lane to lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressShape {
    /// All lanes access the same address.
    Uniform,
    /// Each lane accesses what follows what the lane before accesses.
    Contiguous,
    /// Addresses rise or fall by a constant from lane to lane.
    Strided {
        /// The difference in bytes.
        stride: i64,
    },
    /// Addresses rise or fall by a constant, or are equal, in each aligned group of 2, 4, 8 or 16 lanes.
    Grouped {
        /// Lanes of a group.
        lanes: u32,
        /// The difference in bytes; zero if all lanes of a group access the same address.
        stride: i64,
    },
    /// Anything.
    Scattered,
}

/// Where an address comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressBase {
    /// A register.
    Reg(Reg),
    /// The name of a variable.
    Symbol(Symbol),
    /// A number.
    Absolute(u64),
    /// Several operands: a texture with its coordinates, a tensor map with coordinates.
    Several(List),
}

impl AddressPattern {
    /// The pattern of one of the accesses that a statement makes, as [`View::accesses`] lists them. Nothing if the
    /// statement cannot be reached.
    pub fn of(uniformity: &Uniformity, statement: StmtId, view: &View<'_>, access: &MemAccess) -> Option<Self> {
        let operand = view.operands().get(access.address)?;
        let value_of = |reg| uniformity.read(statement, reg).map(|web| *uniformity.value(web));
        let (base, offset, value) = match *operand {
            Operand::RegAddress(reg, offset) => (AddressBase::Reg(reg), i64::from(offset), value_of(reg)?),
            Operand::SymbolAddress(symbol, offset) => {
                let value = *uniformity.symbol_address(statement, access.address)?;
                return Some(Self::new(AddressBase::Symbol(symbol), offset.into(), value, access));
            }
            Operand::Element(symbol, _) => {
                return Some(Self::new(AddressBase::Symbol(symbol), 0, LaneValue::uniform(64), access));
            }
            Operand::IntAddress(address) => {
                return Some(Self::new(AddressBase::Absolute(address), 0, LaneValue::number(64, address), access));
            }
            Operand::TupleAddress(list) => {
                let values: Option<Vec<LaneValue>> = regs_of_tuple(view, list).into_iter().map(value_of).collect();
                let value = LaneValue::function_of(64, &values?);
                return Some(Self::new(AddressBase::Several(list), 0, value, access));
            }
            _ => return None,
        };
        let value = value.add(LaneValue::number(value.bits(), offset as u64));
        Some(Self::new(base, offset, value, access))
    }

    /// Whether the shape is certain, or a comparison at run time is needed.
    pub fn is_certain(&self) -> bool {
        !self.needs_guard && self.wrap_check.is_none()
    }

    /// The pattern of an address, offset included.
    fn new(base: AddressBase, offset: i64, value: LaneValue, access: &MemAccess) -> Self {
        let bytes = match access.bytes {
            AccessBytes::Fixed(bytes) => Some(i64::from(bytes)),
            _ => None,
        };
        let shape = match value.class() {
            Class::Uniform => AddressShape::Uniform,
            Class::Affine { stride } if Some(stride) == bytes => AddressShape::Contiguous,
            Class::Affine { stride } => AddressShape::Strided { stride },
            Class::Grouped { lanes, stride } => AddressShape::Grouped { lanes, stride },
            Class::Vector => AddressShape::Scattered,
        };
        let may_wrap = value.bits() < 64 && value.no_wrap(Signedness::Unsigned) == NoWrap::NeedsGuard;
        let wrap_check = (may_wrap && shape != AddressShape::Scattered).then(|| value.wrap_check(Signedness::Unsigned));
        Self { shape, base, offset, alignment: value.multiple_of(), needs_guard: value.needs_guard(), wrap_check }
    }
}

/// The registers of an address that is made of several operands.
fn regs_of_tuple(view: &View<'_>, list: List) -> Vec<Reg> {
    let mut regs = Vec::new();
    let mut lists = vec![list];
    while let Some(list) = lists.pop() {
        for operand in view.body.operands(list) {
            match *operand {
                Operand::Reg(reg) | Operand::Neg(reg) | Operand::Part(reg, _) | Operand::RegAddress(reg, _) => {
                    regs.push(reg);
                }
                Operand::Vector(list) | Operand::TupleAddress(list) => lists.push(list),
                _ => {}
            }
        }
    }
    regs
}
