//! Operands: what instructions of a thread read and write.

use super::special;
use super::thread::{Grid, Thread};
use crate::arith::int::mask;
use crate::code::{Arg, Dest};

impl Thread {
    /// The value of an operand; `clock` counts instructions.
    pub(crate) fn read(&self, grid: &Grid<'_>, clock: u64, arg: Arg) -> u128 {
        let base = self.frame().registers;
        let register = |slot: u32| self.registers[(base + slot) as usize];
        match arg {
            Arg::Const(value) => value.into(),
            Arg::Reg(slot) => register(slot),
            // Only predicates and their like are negated: the other bits do not matter.
            Arg::Not(slot) => !register(slot),
            Arg::Neg(slot) => register(slot).wrapping_neg(),
            Arg::Part { slot, shift, bits } => register(slot) >> shift & mask(bits.into()),
            Arg::Special(special) => special::value(grid, self, clock, special),
            Arg::Frame(offset) => u128::from(self.frame().local + offset),
        }
    }

    /// Writes a register of the frame.
    pub(crate) fn write(&mut self, dest: Dest, value: u128) {
        if let Dest::Reg { slot, bits } = dest {
            let index = self.frame().registers + slot;
            self.registers[index as usize] = value & mask(bits.into());
        }
    }
}
