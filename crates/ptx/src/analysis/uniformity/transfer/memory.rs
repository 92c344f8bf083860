//! Loads, addresses, and what lanes give to each other.

use super::super::value::{ALL_BITS, LANE_BITS, LaneBits, LaneValue};
use super::{At, Integer, Outcome};
use crate::ir::{FunctionKind, Operand};
use crate::ops::Mod;
use crate::types::{Space, Type};

/// The start of each window of generic addresses is aligned to 2 to this power.
const WINDOW_ALIGNMENT: u32 = 8;

impl At<'_, '_> {
    /// The window of a state space is at some distance from its generic addresses.
    pub(super) fn convert_address(&self, ty: Integer) -> Option<Outcome> {
        let a = self.input(1, ty.bits)?.value;
        let value = match self.view.form.spaces().next() {
            Some(Space::Global) => a,
            // Each thread has its own memory there, and perhaps its own window.
            None | Some(Space::Local) => LaneValue::vector(ty.bits),
            Some(_) => a.add(LaneValue::uniform(ty.bits).with_low(WINDOW_ALIGNMENT, 0)),
        };
        Some(self.write(0, value, ty))
    }

    /// One access serves all lanes with the same address, so they get the same, even if the memory changes meanwhile.
    pub(super) fn load(&self, ty: Type) -> Option<Outcome> {
        let space = self.view.form.spaces().next();
        let is_private = match space {
            Some(Space::Local) => true,
            Some(Space::Param) => self.transfer.function.kind != FunctionKind::Entry || self.has(Mod::ParamFunc),
            _ => false,
        };
        let address = match *self.view.operands().get(1).unwrap_or(&Operand::Sink) {
            Operand::RegAddress(reg, _) => self.transfer.reg_value(self.values, self.statement, reg)?,
            Operand::SymbolAddress(symbol, _) | Operand::Element(symbol, _) => {
                match self.transfer.variable(symbol).map(|variable| variable.space) {
                    Some(Space::Local) => LaneValue::vector(64),
                    Some(Space::Param) if !self.transfer.is_uniform_param(symbol) => LaneValue::vector(64),
                    _ => LaneValue::uniform(64),
                }
            }
            Operand::IntAddress(_) => LaneValue::uniform(64),
            _ => LaneValue::vector(64),
        };
        if is_private || address.dependence() == ALL_BITS {
            return Some(Outcome::rest(ALL_BITS));
        }
        let value = LaneValue::function_of(ty.bits(), &[address]);
        let value = match self.pointer_alignment() {
            Some(alignment) => value.with_low(alignment.trailing_zeros(), 0),
            None => value,
        };
        let Some(integer) = Integer::of(ty).filter(|_| self.view.form.vector() == 1) else {
            let mut outcome = Outcome::rest(value.dependence());
            outcome.rest_needs_guard = value.needs_guard;
            return Some(outcome);
        };
        Some(self.write(0, value, integer))
    }

    /// The alignment of what a parameter points to, if the instruction loads a parameter of which that is declared.
    pub(super) fn pointer_alignment(&self) -> Option<u32> {
        let &Operand::SymbolAddress(symbol, 0) = self.view.operands().get(1)? else { return None };
        let variable = self.transfer.variable(symbol).filter(|variable| variable.space == Space::Param)?;
        let is_whole = self.view.form.types().last()?.bits() == variable.ty.bits() && variable.dimensions.is_empty();
        variable.pointer?.align.filter(|align| is_whole && align.is_power_of_two())
    }

    /// `shfl.idx` from one lane of the warp, or of each segment of it.
    pub(super) fn shuffle(&self) -> Option<Outcome> {
        let (source, clamp) = (self.input(2, 32)?.value, self.input(3, 32)?.value);
        let mask = match self.view.operands().len() > 4 {
            true => self.input(4, 32)?.value.certain_dependence(),
            false => 0,
        };
        let is_one_lane = self.has(Mod::Idx) && source.certain_dependence() == 0 && mask == 0;
        Some(match clamp.constant() {
            Some(clamp) if is_one_lane && clamp & 0x1f == 0x1f => Outcome::rest((clamp >> 8) as LaneBits & ALL_BITS),
            _ => Outcome::rest(ALL_BITS),
        })
    }

    /// All lanes that take part get the same. Tiles of a warp take part with different masks at once.
    pub(super) fn collective(&self) -> Option<Outcome> {
        let operands = self.view.operands();
        let mask = match self.has(Mod::Sync) {
            true => self.input(operands.len().saturating_sub(1), 32)?.value.certain_dependence(),
            false => 0,
        };
        Some(Outcome::rest(if mask == 0 { 0 } else { ALL_BITS }))
    }

    /// All members get the same. A lane that is not one compares its own value with theirs.
    pub(super) fn match_all(&self) -> Option<Outcome> {
        let mask = self.input(self.view.operands().len().saturating_sub(1), 32)?.value.constant();
        Some(Outcome::rest(if mask.is_some_and(|mask| mask as u32 == u32::MAX) { 0 } else { ALL_BITS }))
    }
}

const _: () = assert!(LANE_BITS == 5, "the segments of `shfl` are bits of a lane's number");
