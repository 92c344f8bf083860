//! Barrier objects in shared memory.
//!
//! The 64 bits are ours to lay out:
//!
//! | bits | hold |
//! |---|---|
//! | 0 to 19 | arrivals that the phase still waits for |
//! | 20 to 39 | arrivals that each phase expects |
//! | 40 to 61 | bytes that the phase still waits for, in two's complement |
//! | 63 | the parity of the phase |
//!
//! The state that an arrival returns is the object before it. All threads that can reach an object run on one OS thread,
//! so nothing here is atomic.

use crate::abi::mbarrier::{MbarrierOp, PENDING_BITS};
use device::FaultKind;

const MOST: u32 = (1 << PENDING_BITS) - 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Object {
    pending: u32,
    expected: u32,
    bytes: i32,
    parity: bool,
}

impl Object {
    fn of(bits: u64) -> Self {
        Self {
            pending: bits as u32 & MOST,
            expected: (bits >> PENDING_BITS) as u32 & MOST,
            bytes: ((bits >> (2 * PENDING_BITS)) as i32) << 10 >> 10,
            parity: bits >> 63 != 0,
        }
    }

    fn bits(self) -> u64 {
        let bytes = u64::from(self.bytes as u32 & 0x3f_ffff);
        u64::from(self.pending)
            | u64::from(self.expected) << PENDING_BITS
            | bytes << (2 * PENDING_BITS)
            | u64::from(self.parity) << 63
    }

    fn arrive(&mut self, count: u32, drops: bool) -> Option<()> {
        self.pending = self.pending.checked_sub(count)?;
        if drops {
            self.expected = self.expected.checked_sub(count)?;
        }
        self.end_phase();
        Some(())
    }

    fn expect_bytes(&mut self, bytes: u32) -> Option<()> {
        self.bytes = self.bytes.checked_add_unsigned(bytes).filter(|&bytes| bytes <= MOST as i32)?;
        Some(())
    }

    fn complete_bytes(&mut self, bytes: u32) -> Option<()> {
        self.bytes = self.bytes.checked_sub_unsigned(bytes).filter(|&bytes| bytes >= -(MOST as i32))?;
        self.end_phase();
        Some(())
    }

    fn end_phase(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.parity = !self.parity;
        }
    }

    /// Nothing if the object cannot do that.
    fn execute(&mut self, op: MbarrierOp, operand: u64) -> Option<u64> {
        use MbarrierOp::*;
        let before = *self;
        let count = operand as u32;
        match op {
            Init => {
                let count = (1..=MOST).contains(&count).then_some(count)?;
                *self = Self { pending: count, expected: count, bytes: 0, parity: false };
            }
            Invalidate => *self = Self::of(0),
            ExpectBytes => self.expect_bytes(count)?,
            CompleteBytes => self.complete_bytes(count)?,
            Arrive | ArriveAndDrop => self.arrive(count, op == ArriveAndDrop)?,
            ArriveExpecting | ArriveExpectingAndDrop => {
                self.expect_bytes(count)?;
                self.arrive(1, op == ArriveExpectingAndDrop)?;
            }
            ArriveEarly | ArriveEarlyAndDrop => {
                self.arrive(count, op == ArriveEarlyAndDrop)?;
                (self.parity == before.parity).then_some(())?;
            }
            ArriveAfterCopies => {
                self.pending = (self.pending < MOST).then_some(self.pending + 1)?;
                self.arrive(1, false)?;
            }
            ArriveAfterCopiesCounted => self.arrive(1, false)?,
            TestState => return Some(u64::from(self.parity != Self::of(operand).parity)),
            TestParity => return Some(u64::from(self.parity != (operand & 1 != 0))),
        }
        Some(before.bits())
    }
}

/// Executes an operation on the object at an address. The result is the state before an arrival, or whether a phase has
/// ended.
///
/// # Safety
/// The address is that of memory which the program may access, or the access faults as one of its own does.
pub(crate) unsafe fn execute(op: u32, address: u64, operand: u64) -> Result<u64, FaultKind> {
    let Some(op) = MbarrierOp::of(op) else {
        return Err(FaultKind::Unsupported { what: format!("operation {op} of barrier objects") });
    };
    if !address.is_multiple_of(8) {
        return Err(FaultKind::Misaligned { address, bytes: 8 });
    }
    let place = address as *mut u64;
    // SAFETY: the caller's promise; the address is aligned.
    let mut object = Object::of(unsafe { place.read_volatile() });
    let result = object
        .execute(op, operand)
        .ok_or(FaultKind::Undefined { what: "a barrier object that cannot do what it is asked for" })?;
    // SAFETY: as above.
    unsafe { place.write_volatile(object.bits()) };
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_fits_into_its_bits() {
        for object in [
            Object { pending: MOST, expected: 3, bytes: -5, parity: true },
            Object { pending: 1, expected: MOST, bytes: MOST as i32, parity: false },
        ] {
            assert_eq!(Object::of(object.bits()), object);
        }
    }

    #[test]
    fn a_phase_ends_when_threads_and_bytes_have_come() {
        let mut object = Object::of(0);
        object.execute(MbarrierOp::Init, 2).unwrap();
        let state = object.execute(MbarrierOp::ArriveExpecting, 64).unwrap();
        object.execute(MbarrierOp::Arrive, 1).unwrap();
        assert_eq!(object.execute(MbarrierOp::TestState, state), Some(0));
        object.execute(MbarrierOp::CompleteBytes, 64).unwrap();
        assert_eq!(object.execute(MbarrierOp::TestState, state), Some(1));
        assert_eq!(object.execute(MbarrierOp::TestParity, 0), Some(1));
        assert_eq!(object.execute(MbarrierOp::Arrive, 3), None);
    }
}
