//! `atom` and `red`: one thread runs at a time, so a read and a write are one step.

use smallvec::SmallVec;

use super::lane::Lane;
use super::pure::{float_packed, int_op, logic};
use crate::code::{Atomic, AtomicOp, Inst, IntLimit};
use crate::fault::FaultKind;
use crate::memory::from_bytes;

impl Lane<'_> {
    pub(crate) fn execute_atomic(&mut self, inst: &Inst, atomic: Atomic) -> Result<(), FaultKind> {
        let operand = inst.addresses[0];
        let address = self.address_of(operand);
        let size = usize::from(atomic.size);
        let vector = usize::from(atomic.vector);
        let args: SmallVec<[u128; 8]> = inst.args.iter().map(|&arg| self.read(arg)).collect();
        let swap = args.get(vector).copied().unwrap_or(0);
        self.list_access(inst, operand.window, address, (size * vector) as u32, true);
        let bytes = self.store(operand.window, address, (size * vector) as u32)?;
        let mut old = SmallVec::<[u128; 8]>::new();
        for (target, &arg) in bytes.chunks_exact_mut(size).zip(&args) {
            let before = from_bytes(target);
            let after = apply(atomic.op, atomic.size, before, arg, swap);
            target.copy_from_slice(&after.to_le_bytes()[..size]);
            old.push(before);
        }
        for (&dest, value) in inst.dests.iter().zip(old) {
            self.thread.write(dest, value);
        }
        Ok(())
    }
}

fn apply(op: AtomicOp, size: u8, old: u128, value: u128, swap: u128) -> u128 {
    let value = value & crate::arith::int::mask(8 * u32::from(size));
    match op {
        AtomicOp::Int(op, ty) => int_op(op, ty, IntLimit::Wrap, old, value, 0),
        AtomicOp::Logic(op) => logic(op, old, value),
        AtomicOp::Exchange => value,
        AtomicOp::CompareAndSwap => {
            if old == value {
                swap
            } else {
                old
            }
        }
        AtomicOp::Inc => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Dec => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
        AtomicOp::Float { op, format, lanes, mode } => float_packed(op, format, lanes, mode, old, value),
    }
}
