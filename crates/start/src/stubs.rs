//! Where the functions of a static CUDA runtime lead to: one stub for each function and version, which jumps to the
//! function of that version in `libwarpgrind_cuda.so`. The first call of a stub looks the function up, and the first of
//! all loads the library.
//!
//! A stub does not know the signature of its function: it leaves all registers that carry arguments, and the stack, as
//! they are. `%r11` is free at the entry of a function; the loader uses it in the same way.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use program::runtime::{COUNT, FUNCTIONS, Major};

use crate::{message, run};

/// The number of stubs.
const STUBS: usize = COUNT * Major::ALL.len();
/// The distance from one stub to the next.
const STUB_BYTES: usize = 32;

/// Where the stubs jump to; null until they are called.
static TARGETS: [AtomicPtr<c_void>; STUBS] = [const { AtomicPtr::new(null_mut()) }; STUBS];

unsafe extern "C" {
    static warpgrind_stubs: u8;
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

std::arch::global_asm!(
    ".pushsection .text.warpgrind_stubs, \"ax\", @progbits",
    ".globl warpgrind_stubs",
    ".hidden warpgrind_stubs",
    ".type warpgrind_stubs, @function",
    ".p2align 5",
    "warpgrind_stubs:",
    ".set warpgrind_index, 0",
    ".rept {stubs}",
    ".p2align 5",
    "movq {targets} + 8 * warpgrind_index(%rip), %r11",
    "testq %r11, %r11",
    "jz 1f",
    "jmp *%r11",
    "1: pushq $warpgrind_index",
    "jmp warpgrind_resolve",
    ".set warpgrind_index, warpgrind_index + 1",
    ".endr",
    ".size warpgrind_stubs, . - warpgrind_stubs",
    // On the stack: the index, then what the caller of the stub put there. With the index, the stack is aligned to 16.
    ".type warpgrind_resolve, @function",
    "warpgrind_resolve:",
    ".cfi_startproc",
    ".cfi_def_cfa_offset 16",
    "pushq %rax",
    "pushq %rdi",
    "pushq %rsi",
    "pushq %rdx",
    "pushq %rcx",
    "pushq %r8",
    "pushq %r9",
    "pushq %r10",
    "subq $128, %rsp",
    ".cfi_def_cfa_offset 208",
    "movups %xmm0, (%rsp)",
    "movups %xmm1, 16(%rsp)",
    "movups %xmm2, 32(%rsp)",
    "movups %xmm3, 48(%rsp)",
    "movups %xmm4, 64(%rsp)",
    "movups %xmm5, 80(%rsp)",
    "movups %xmm6, 96(%rsp)",
    "movups %xmm7, 112(%rsp)",
    "movq 192(%rsp), %rdi",
    "call {resolve}",
    "movq %rax, %r11",
    "movups (%rsp), %xmm0",
    "movups 16(%rsp), %xmm1",
    "movups 32(%rsp), %xmm2",
    "movups 48(%rsp), %xmm3",
    "movups 64(%rsp), %xmm4",
    "movups 80(%rsp), %xmm5",
    "movups 96(%rsp), %xmm6",
    "movups 112(%rsp), %xmm7",
    "addq $128, %rsp",
    ".cfi_def_cfa_offset 80",
    "popq %r10",
    "popq %r9",
    "popq %r8",
    "popq %rcx",
    "popq %rdx",
    "popq %rsi",
    "popq %rdi",
    "popq %rax",
    "addq $8, %rsp",
    ".cfi_def_cfa_offset 8",
    "jmp *%r11",
    ".cfi_endproc",
    ".size warpgrind_resolve, . - warpgrind_resolve",
    ".popsection",
    stubs = const STUBS,
    targets = sym TARGETS,
    resolve = sym resolve,
    options(att_syntax)
);

/// Where the stub of a function is in this copy of the library.
pub fn address(major: Major, function: usize) -> usize {
    (&raw const warpgrind_stubs).addr() + STUB_BYTES * (major as usize * COUNT + function)
}

/// Finds the function that a stub stands for, and notes it for the next call.
extern "C" fn resolve(index: usize) -> *mut c_void {
    // SAFETY: each thread has an `errno`. A CUDA function does not change it, so neither may we.
    let errno = unsafe { *libc::__errno_location() };
    let (major, function) = (Major::ALL[index / COUNT], FUNCTIONS[index % COUNT]);
    let (mut name, mut version) = ([0; 128], [0; 32]);
    let (name, version) = (c_string(&mut name, function.name), c_string(&mut version, major.library()));
    // SAFETY: the handle comes from `dlopen`, the others are C strings.
    let mut target = unsafe { dlvsym(library(), name.as_ptr(), version.as_ptr()) };
    if target.is_null() {
        message::say(&[b"`", function.name.as_bytes(), b"` is not supported and returns an error"]);
        target = unsupported as extern "C" fn() -> c_int as *mut c_void;
    }
    TARGETS[index].store(target, Ordering::Release);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    target
}

/// Stands for functions that our library does not have; it returns cudaErrorNotSupported.
extern "C" fn unsupported() -> c_int {
    801
}

/// Our CUDA library, which is loaded when it is asked for and then stays. Two threads that ask at the same time get the
/// same handle.
fn library() -> *mut c_void {
    static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let loaded = LIBRARY.load(Ordering::Acquire);
    if !loaded.is_null() {
        return loaded;
    }
    let Some(run) = run::get() else {
        message::give_up(&[b"WARPGRIND_SETTINGS is not set; start the program with `warpgrind run`"]);
    };
    let _quiet = valgrind::quiet();
    // SAFETY: the path is a C string; the constructors of our library may run anywhere.
    let handle = unsafe { libc::dlopen(run.library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE) };
    if handle.is_null() {
        // SAFETY: after a failure there is a message, a C string.
        let reason = unsafe { CStr::from_ptr(libc::dlerror()) };
        message::give_up(&[b"the CUDA library cannot be loaded: ", reason.to_bytes()]);
    }
    LIBRARY.store(handle, Ordering::Release);
    handle
}

fn c_string<'a>(buffer: &'a mut [u8], text: &str) -> &'a CStr {
    buffer[..text.len()].copy_from_slice(text.as_bytes());
    CStr::from_bytes_until_nul(buffer).expect("the buffer is longer than any name in the table")
}
