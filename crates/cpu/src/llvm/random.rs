//! `arc4random`, which LLVM takes random names from if the C library that it was built with has it. glibc has it since 2.36; with
//! one of our own, packages run with 2.34, which distributions of 2022 have. Nobody else sees it.

use std::arch::global_asm;

global_asm!(
    ".globl arc4random",
    ".hidden arc4random",
    ".type arc4random, @function",
    "arc4random:",
    "jmp {random}",
    ".size arc4random, . - arc4random",
    random = sym random,
);

unsafe extern "C" {
    fn arc4random() -> u32;
}

/// The linker looks for what LLVM needs after it has passed us by, so that somebody must have asked before.
#[used]
static NEEDED: unsafe extern "C" fn() -> u32 = arc4random;

extern "C" fn random() -> u32 {
    let mut bytes = [0; 4];
    // SAFETY: the buffer has four bytes. If fewer are written, names are less random: files are created only where none is.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    u32::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ() {
        // SAFETY: it takes nothing, and is ours.
        let numbers = [(); 4].map(|()| unsafe { arc4random() });
        assert!(numbers.iter().any(|&number| number != numbers[0]), "{numbers:?}");
    }
}
