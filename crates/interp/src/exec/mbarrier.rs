//! Barrier objects in shared memory.
//!
//! The 64 bits are ours to lay out: the arrivals that a phase expects (20 bits), those that it still waits for (20),
//! the bytes that it still waits for (21, in two's complement), and the parity of the phase (1). A state that `arrive`
//! returns is the object before the arrival.

use super::lane::Lane;
use crate::code::{Address, Inst, Mbarrier};
use crate::fault::FaultKind;
use crate::memory::from_bytes;

/// A barrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Object {
    pub expected: u32,
    pub pending: u32,
    pub bytes: i32,
    pub phase: bool,
}

const COUNT_BITS: u32 = 20;
const COUNT_MAX: u32 = (1 << COUNT_BITS) - 1;

impl Object {
    pub(crate) fn from_bits(bits: u64) -> Self {
        let count = |shift: u32| (bits >> shift) as u32 & COUNT_MAX;
        Self {
            expected: count(0),
            pending: count(COUNT_BITS),
            bytes: ((bits >> (2 * COUNT_BITS)) as i32) << 11 >> 11,
            phase: bits >> 63 == 1,
        }
    }

    fn to_bits(self) -> u64 {
        u64::from(self.expected)
            | u64::from(self.pending) << COUNT_BITS
            | u64::from(self.bytes as u32 & 0x1f_ffff) << (2 * COUNT_BITS)
            | u64::from(self.phase) << 63
    }

    fn init(count: u32) -> Option<Self> {
        (1..=COUNT_MAX).contains(&count).then_some(Self { expected: count, pending: count, bytes: 0, phase: false })
    }

    fn arrive(&mut self, count: u32, drop: bool) -> Option<()> {
        self.pending = self.pending.checked_sub(count)?;
        if drop {
            self.expected = self.expected.checked_sub(count)?;
        }
        self.complete();
        Some(())
    }

    fn expect_tx(&mut self, bytes: u32) -> Option<()> {
        self.bytes = self.bytes.checked_add_unsigned(bytes).filter(|bytes| *bytes < 1 << COUNT_BITS)?;
        Some(())
    }

    /// Bytes have come.
    pub(crate) fn complete_tx(&mut self, bytes: u32) -> Option<()> {
        self.bytes = self.bytes.checked_sub_unsigned(bytes).filter(|bytes| *bytes > -(1 << COUNT_BITS))?;
        self.complete();
        Some(())
    }

    fn complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.phase = !self.phase;
        }
    }
}

impl Lane<'_> {
    /// Changes a barrier object; nothing from `change` means that it cannot do that.
    pub(crate) fn change_mbarrier<T>(
        &mut self,
        operand: Address,
        change: impl FnOnce(&mut Object) -> Option<T>,
    ) -> Result<T, FaultKind> {
        let address = self.address_of(operand);
        let bytes = self.store(operand.window, address, 8)?;
        let mut object = Object::from_bits(from_bytes(bytes) as u64);
        let result = change(&mut object).ok_or(FaultKind::Mbarrier(address))?;
        bytes.copy_from_slice(&object.to_bits().to_le_bytes());
        Ok(result)
    }

    /// Returns whether others should run: a wait that was in vain.
    pub(crate) fn execute_mbarrier(&mut self, inst: &Inst, op: Mbarrier) -> Result<bool, FaultKind> {
        let operand = inst.addresses[0];
        let arg = inst.args.first().map_or(0, |&arg| self.read(arg));
        let count = arg as u32;
        let dest = inst.dests.first().copied();
        match op {
            Mbarrier::Init => self.change_mbarrier(operand, |object| {
                *object = Object::init(count)?;
                Some(())
            })?,
            Mbarrier::Inval => self.change_mbarrier(operand, |object| {
                *object = Object::from_bits(0);
                Some(())
            })?,
            Mbarrier::ExpectTx => self.change_mbarrier(operand, |object| object.expect_tx(count))?,
            Mbarrier::CompleteTx => self.change_mbarrier(operand, |object| object.complete_tx(count))?,
            Mbarrier::Arrive { drop, expect, no_complete } => {
                let state = self.change_mbarrier(operand, |object| {
                    let before = *object;
                    let arrivals = if expect { 1 } else { count };
                    if expect {
                        object.expect_tx(count)?;
                    }
                    object.arrive(arrivals, drop)?;
                    (!no_complete || object.phase == before.phase).then_some(before.to_bits())
                })?;
                if let Some(dest) = dest {
                    self.thread.write(dest, state.into());
                }
            }
            Mbarrier::CopyArrive { noinc } => self.change_mbarrier(operand, |object| {
                if !noinc {
                    object.pending = (object.pending < COUNT_MAX).then_some(object.pending + 1)?;
                }
                object.arrive(1, false)
            })?,
            Mbarrier::Wait { parity, is_try } => {
                let current = self.change_mbarrier(operand, |object| Some(object.phase))?;
                let waited_for = if parity { arg & 1 == 1 } else { Object::from_bits(arg as u64).phase };
                let is_complete = current != waited_for;
                if let Some(dest) = dest {
                    self.thread.write(dest, is_complete.into());
                }
                return Ok(is_try && !is_complete);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_fits_in_its_bits() {
        let object = Object { expected: COUNT_MAX, pending: 3, bytes: -5, phase: true };
        assert_eq!(Object::from_bits(object.to_bits()), object);
        let object = Object { expected: 1, pending: COUNT_MAX, bytes: (1 << 20) - 1, phase: false };
        assert_eq!(Object::from_bits(object.to_bits()), object);
    }

    #[test]
    fn a_phase_ends_when_threads_and_bytes_have_come() {
        let mut object = Object::init(2).unwrap();
        object.expect_tx(64).unwrap();
        object.arrive(2, false).unwrap();
        assert!(!object.phase);
        object.complete_tx(64).unwrap();
        assert!(object.phase);
        assert_eq!(object.pending, 2);
        assert_eq!(object.arrive(3, false), None);
    }
}
