//! The value of a barrier object (`mbarrier`).
//!
//! The 64 bits are ours to lay out: the arrivals that a phase expects (20 bits), those that it still waits for (20),
//! the bytes that it still waits for (21, in two's complement), and the parity of the phase (1). A state that `arrive`
//! returns is the object before the arrival.

/// A barrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MbarrierObject {
    pub expected: u32,
    pub pending: u32,
    pub bytes: i32,
    pub phase: bool,
}

const COUNT_BITS: u32 = 20;
pub(crate) const COUNT_MAX: u32 = (1 << COUNT_BITS) - 1;

impl MbarrierObject {
    pub(crate) fn from_bits(bits: u64) -> Self {
        let count = |shift: u32| (bits >> shift) as u32 & COUNT_MAX;
        Self {
            expected: count(0),
            pending: count(COUNT_BITS),
            bytes: ((bits >> (2 * COUNT_BITS)) as i32) << 11 >> 11,
            phase: bits >> 63 == 1,
        }
    }

    pub(crate) fn to_bits(self) -> u64 {
        u64::from(self.expected)
            | u64::from(self.pending) << COUNT_BITS
            | u64::from(self.bytes as u32 & 0x1f_ffff) << (2 * COUNT_BITS)
            | u64::from(self.phase) << 63
    }

    pub(crate) fn init(count: u32) -> Option<Self> {
        (1..=COUNT_MAX).contains(&count).then_some(Self { expected: count, pending: count, bytes: 0, phase: false })
    }

    pub(crate) fn arrive(&mut self, count: u32, drop: bool) -> Option<()> {
        self.pending = self.pending.checked_sub(count)?;
        if drop {
            self.expected = self.expected.checked_sub(count)?;
        }
        self.complete();
        Some(())
    }

    pub(crate) fn expect_tx(&mut self, bytes: u32) -> Option<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_fits_in_its_bits() {
        let object = MbarrierObject { expected: COUNT_MAX, pending: 3, bytes: -5, phase: true };
        assert_eq!(MbarrierObject::from_bits(object.to_bits()), object);
        let object = MbarrierObject { expected: 1, pending: COUNT_MAX, bytes: (1 << 20) - 1, phase: false };
        assert_eq!(MbarrierObject::from_bits(object.to_bits()), object);
    }

    #[test]
    fn a_phase_ends_when_threads_and_bytes_have_come() {
        let mut object = MbarrierObject::init(2).unwrap();
        object.expect_tx(64).unwrap();
        object.arrive(2, false).unwrap();
        assert!(!object.phase);
        object.complete_tx(64).unwrap();
        assert!(object.phase);
        assert_eq!(object.pending, 2);
        assert_eq!(object.arrive(3, false), None);
    }
}
