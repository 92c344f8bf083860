//! Waits for words of memory, and writes of them, in a stream.
//!
//! Unsafe: the addresses come from the program. Whoever makes an operation promises that they stay valid until it has run,
//! as CUDA asks of the program.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::device_memory;

/// An operation on a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operation {
    word: Word,
    action: Action,
}

/// A word of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    Narrow(u64),
    Wide(u64),
}

/// What is done with a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// It gets this value.
    Write(u64),
    /// What comes after waits until it is like this, compared with a value.
    Wait(Condition, u64),
}

/// What a word is waited to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    /// At least the value, as numbers that go round.
    NotLess,
    Equal,
    /// One of the value's bits is set.
    AnyBit,
    /// A bit is neither set nor one of the value's.
    NotAllBits,
}

impl Condition {
    /// Whether it holds, for words of so many bits.
    fn holds(self, found: u64, value: u64, bits: u32) -> bool {
        let unused = 64 - bits;
        match self {
            Self::NotLess => (found.wrapping_sub(value) << unused).cast_signed() >= 0,
            Self::Equal => found == value,
            Self::AnyBit => found & value != 0,
            Self::NotAllBits => !(found | value) << unused != 0,
        }
    }
}

impl Operation {
    /// An operation on a word of 32 or 64 bits. Nothing if the address is not a multiple of its size.
    ///
    /// # Safety
    /// The word must be valid to read and to write until the operation has run.
    pub(crate) unsafe fn new(address: u64, is_wide: bool, action: Action) -> Option<Self> {
        let word = if is_wide { Word::Wide(address) } else { Word::Narrow(address) };
        address.is_multiple_of((word.bits() / 8).into()).then_some(Self { word, action })
    }

    /// The address and how many bytes.
    pub(crate) fn range(&self) -> (u64, u64) {
        let (address, bytes) = self.word.range();
        (address, bytes as u64)
    }

    /// Whether it writes.
    pub(crate) fn is_write(&self) -> bool {
        matches!(self.action, Action::Write(_))
    }

    /// Writes, or looks whether what it waits for has come. False if not.
    pub(crate) fn try_run(&self) -> bool {
        match self.action {
            Action::Write(value) => {
                self.word.store(value);
                true
            }
            Action::Wait(condition, value) => condition.holds(self.word.load(), value, self.word.bits()),
        }
    }
}

impl Word {
    fn range(self) -> (u64, usize) {
        match self {
            Self::Narrow(address) => (address, 4),
            Self::Wide(address) => (address, 8),
        }
    }

    fn bits(self) -> u32 {
        if matches!(self, Self::Wide(_)) { 64 } else { 32 }
    }

    fn load(self) -> u64 {
        if device_memory::remote().is_some() {
            let mut bytes = [0; 8];
            let (address, count) = self.range();
            // SAFETY: whoever made the operation promised that the word is valid.
            let _ = unsafe { device_memory::read(address, &mut bytes[..count]) };
            return u64::from_le_bytes(bytes);
        }
        // SAFETY: whoever made the operation promised that the word is valid, and it is aligned.
        unsafe {
            match self {
                Self::Narrow(address) => (*(address as *const AtomicU32)).load(Ordering::SeqCst).into(),
                Self::Wide(address) => (*(address as *const AtomicU64)).load(Ordering::SeqCst),
            }
        }
    }

    fn store(self, value: u64) {
        if device_memory::remote().is_some() {
            let (address, count) = self.range();
            // SAFETY: whoever made the operation promised that the word is valid.
            let _ = unsafe { device_memory::write(&value.to_le_bytes()[..count], address) };
            return;
        }
        // SAFETY: whoever made the operation promised that the word is valid, and it is aligned.
        unsafe {
            match self {
                Self::Narrow(address) => (*(address as *const AtomicU32)).store(value as u32, Ordering::SeqCst),
                Self::Wide(address) => (*(address as *const AtomicU64)).store(value, Ordering::SeqCst),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_round() {
        assert!(Condition::NotLess.holds(5, 5, 32));
        assert!(!Condition::NotLess.holds(4, 5, 32));
        assert!(Condition::NotLess.holds(1, 0xffff_fff0, 32));
        assert!(!Condition::NotLess.holds(1, 0xffff_fff0, 64));
    }

    #[test]
    fn bits_of_a_word() {
        assert!(Condition::AnyBit.holds(0b110, 0b010, 32) && !Condition::AnyBit.holds(0b100, 0b010, 32));
        assert!(!Condition::NotAllBits.holds(0xffff_0000, 0x0000_ffff, 32));
        assert!(Condition::NotAllBits.holds(0xffff_0000, 0x0000_ffff, 64));
    }
}
