//! Whether the code that runs now may access device memory.
//!
//! Device memory is memory of the process, so that a program which follows a device pointer on the host would get away with
//! it, unlike on a machine with a GPU. If a tool wants it, all device memory that the host does not share therefore has a
//! protection key of the processor. Each thread has a register that says which keys it may use, and which it changes
//! without the system's help, so that a call of CUDA costs some nanoseconds more, and a kernel nothing:
//!
//! - The threads of the program may not use the key. Those that were there before it was made may not either, nor handlers
//!   of signals: that is the system's default.
//! - Calls of CUDA use it until they return ([`allow`]), and our threads, which begin in such calls, always: a thread
//!   begins with what its creator may do.
//! - Functions of the program that we call may not use it ([`forbid`]).
//!
//! Under Valgrind there are no keys; there, calls of CUDA keep quiet about errors of ours until they return, and functions of
//! the program that we call do not.
//!
//! Processors without protection keys, and sandboxes that do not give any, leave device memory open to the host: memory
//! can be taken away from all threads of a process or from none, and kernels run beside the program's threads.

use std::sync::atomic::{AtomicU32, Ordering};

use device::Memory;

/// The protection key of device memory; 0, which everybody may use, if there is none.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Keeps the program's own code out of device memory from now on, if that is possible; whether it is. This thread may access
/// it until the call of CUDA that it is in returns.
pub(crate) fn keep_program_out(memory: &dyn Memory) -> bool {
    if !cfg!(target_arch = "x86_64") || valgrind::is_there() {
        return false;
    }
    // SAFETY: it makes a key that this thread may use, or says that it cannot.
    let made = unsafe { libc::syscall(libc::SYS_pkey_alloc, 0, 0) };
    let Some(key) = u32::try_from(made).ok().filter(|&key| key != 0) else { return false };
    if memory.set_protection_key(key).is_err() {
        // SAFETY: nothing has the key.
        unsafe { libc::syscall(libc::SYS_pkey_free, i64::from(key)) };
        return false;
    }
    KEY.store(key, Ordering::Release);
    true
}

/// The protection key of device memory that the host does not share, if there is one.
pub(crate) fn key() -> Option<u32> {
    Some(KEY.load(Ordering::Relaxed)).filter(|&key| key != 0)
}

/// What this thread may access is as before when this is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Restore {
    /// What it might do before; nothing if there was no key yet.
    before: Option<u32>,
    /// Whether it runs code of ours meanwhile.
    is_ours: bool,
}

/// Lets this thread access device memory for a while: it runs code of ours.
pub(crate) fn allow() -> Restore {
    valgrind::be_quiet();
    let Some(key) = key() else { return Restore { before: None, is_ours: true } };
    let before = rights();
    set_rights(before & !(DISABLE << (2 * key)));
    Restore { before: Some(before), is_ours: true }
}

/// Keeps this thread from device memory for a while: it runs code of the program.
pub(crate) fn forbid() -> Restore {
    valgrind::speak();
    let Some(key) = key() else { return Restore { before: None, is_ours: false } };
    let before = rights();
    set_rights(before | DISABLE << (2 * key));
    Restore { before: Some(before), is_ours: false }
}

impl Drop for Restore {
    fn drop(&mut self) {
        if self.is_ours {
            valgrind::speak();
        } else {
            valgrind::be_quiet();
        }
        let Some(key) = key() else { return };
        let bits = DISABLE << (2 * key);
        // Other keys are the program's, which may have changed what it does with them.
        set_rights(rights() & !bits | self.before.unwrap_or(bits) & bits);
    }
}

/// The two bits of a key that forbid accesses and writes.
const DISABLE: u32 = 3;

/// What this thread may do with memory of each key. Only called if there are keys.
#[cfg(target_arch = "x86_64")]
fn rights() -> u32 {
    let rights;
    // SAFETY: it reads a register of the thread, which the processor has, because there is a key.
    unsafe {
        std::arch::asm!("rdpkru", in("ecx") 0, out("eax") rights, out("edx") _, options(nomem, nostack, preserves_flags));
    }
    rights
}

/// Sets what this thread may do with memory of each key. The compiler moves no access over it.
#[cfg(target_arch = "x86_64")]
fn set_rights(rights: u32) {
    // SAFETY: it writes a register of the thread, which the processor has, because there is a key. Only rights to memory of
    // our key are changed, and code that is kept from it is the program's.
    unsafe {
        std::arch::asm!("wrpkru", in("ecx") 0, in("eax") rights, in("edx") 0, options(nostack, preserves_flags));
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn rights() -> u32 {
    unreachable!("there is no key")
}

#[cfg(not(target_arch = "x86_64"))]
fn set_rights(_rights: u32) {
    unreachable!("there is no key")
}
