//! Requests to Valgrind, for processes that it runs: `valgrind.h` and `memcheck.h` in Rust.
//!
//! A request is a sequence of instructions that does nothing, which Valgrind recognises. Whether the process is under Valgrind
//! is asked once; elsewhere each function here costs a load and a branch.
//!
//! Memcheck has a bit for each bit of memory, which is one where the bit is undefined: the same that our shadows have.
//!
//! ```
//! let bits = [0xff; 4];
//! assert!(valgrind::is_there() || !valgrind::set_bits(0x1000, &bits));
//! ```

use std::sync::atomic::{AtomicU8, Ordering};

/// Numbers of requests (`Vg_ClientRequest` of valgrind.h, `Vg_MemCheckClientRequest` of memcheck.h).
const RUNNING_ON_VALGRIND: u64 = 0x1001;
const STACK_REGISTER: u64 = 0x1501;
const STACK_DEREGISTER: u64 = 0x1502;
const CHANGE_ERROR_DISABLEMENT: u64 = 0x1801;
const MEMCHECK: u64 = 0x4d43_0000;
const MAKE_MEMORY_DEFINED: u64 = MEMCHECK + 2;
const CHECK_ADDRESSABLE: u64 = MEMCHECK + 4;
const GET_BITS: u64 = MEMCHECK + 8;
const SET_BITS: u64 = MEMCHECK + 9;

/// Asks Valgrind; 0 if it is not there, or if its tool does not know the request.
fn request(number: u64, arguments: [u64; 3]) -> u64 {
    if !cfg!(target_arch = "x86_64") {
        return 0;
    }
    let words = [number, arguments[0], arguments[1], arguments[2], 0, 0];
    let mut answer = 0_u64;
    // SAFETY: outside of Valgrind the four rotations add up to two whole turns of a register, and the exchange is of a register
    // with itself. Valgrind reads the words, writes the answer, and what the request asks for: callers see to that.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") words.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

/// Whether Valgrind runs this process.
#[inline]
pub fn is_there() -> bool {
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 2;
    match ANSWER.load(Ordering::Relaxed) {
        UNKNOWN => {
            let answer = request(RUNNING_ON_VALGRIND, [0; 3]) != 0;
            ANSWER.store(answer.into(), Ordering::Relaxed);
            answer
        }
        answer => answer != 0,
    }
}

/// Errors of this thread are not reported any more: it runs code of ours, which Valgrind is not asked about.
#[inline]
pub fn be_quiet() {
    if is_there() {
        request(CHANGE_ERROR_DISABLEMENT, [1, 0, 0]);
    }
}

/// Errors of this thread are reported again.
#[inline]
pub fn speak() {
    if is_there() {
        request(CHANGE_ERROR_DISABLEMENT, [u64::MAX, 0, 0]);
    }
}

/// Errors of this thread are not reported until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Quiet(());

/// Errors of this thread are not reported for a while. A thread that ends must not be quiet: Valgrind complains of that.
pub fn quiet() -> Quiet {
    be_quiet();
    Quiet(())
}

impl Drop for Quiet {
    fn drop(&mut self) {
        speak();
    }
}

/// A stack of Valgrind's, by its number.
#[derive(Debug)]
pub struct Stack(u64);

/// Says that memory is a stack, so that a switch to it is not taken for a very large frame.
pub fn register_stack(start: u64, end: u64) -> Option<Stack> {
    is_there().then(|| Stack(request(STACK_REGISTER, [start, end, 0])))
}

impl Drop for Stack {
    fn drop(&mut self) {
        request(STACK_DEREGISTER, [self.0, 0, 0]);
    }
}

/// Which bits of memory are undefined, into as many bytes; false if some of the memory is none, or nobody knows.
pub fn bits(address: u64, bits: &mut [u8]) -> bool {
    is_there() && !bits.is_empty() && request(GET_BITS, [address, bits.as_mut_ptr() as u64, bits.len() as u64]) == 1
}

/// Says which bits of memory are undefined; false if some of it is none, or nobody wants to know.
pub fn set_bits(address: u64, bits: &[u8]) -> bool {
    is_there() && !bits.is_empty() && request(SET_BITS, [address, bits.as_ptr() as u64, bits.len() as u64]) == 1
}

/// Says that memory is defined.
pub fn define(address: u64, bytes: u64) {
    if is_there() {
        request(MAKE_MEMORY_DEFINED, [address, bytes, 0]);
    }
}

/// Has Valgrind report memory that is none, or was freed, with the stack of the program.
pub fn check_addressable(address: u64, bytes: u64) {
    if is_there() {
        speak();
        request(CHECK_ADDRESSABLE, [address, bytes, 0]);
        be_quiet();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_answers_elsewhere() {
        assert_eq!(request(RUNNING_ON_VALGRIND, [0; 3]), 0);
        let mut found = [7; 4];
        assert!(!is_there() && !bits(0x1000, &mut found) && !set_bits(0x1000, &found));
        assert!(register_stack(0x1000, 0x2000).is_none());
        assert_eq!(found, [7; 4]);
    }
}
