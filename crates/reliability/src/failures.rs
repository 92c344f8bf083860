//! A library that is loaded before others (`LD_PRELOAD`) and lets one call of the system fail, of those that Warpgrind's own
//! libraries make: the n-th allocation of memory, mapping, opening, write, or start of a thread.
//!
//! `WARPGRIND_FAIL=mmap:17` fails the 17th, `mmap:17+` that and all after it; `WARPGRIND_FAILED` is a file that is created when
//! it has come to that. `fail-nth` sets both.
//!
//! Calls that go past the C library, as `rustix` makes them for journals, are not seen.
//!
//! Whose call it is, the return address says. That, and the sixth parameter of `mmap`, is why there is assembly here: the
//! functions that the loader finds hand it on, as one more parameter.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicUsize, Ordering};

/// What can fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Allocation,
    Mapping,
    Opening,
    Writing,
    Thread,
}

const NAMES: [(&CStr, Kind); 5] = [
    (c"malloc:", Kind::Allocation),
    (c"mmap:", Kind::Mapping),
    (c"open:", Kind::Opening),
    (c"write:", Kind::Writing),
    (c"pthread_create:", Kind::Thread),
];

/// Calls until the one that fails; nothing fails below zero.
static LEFT: AtomicI64 = AtomicI64::new(-1);
static KIND: AtomicU8 = AtomicU8::new(0);
static IS_LASTING: AtomicBool = AtomicBool::new(false);
static IS_READ: AtomicBool = AtomicBool::new(false);
/// Pages that are known to be of one of our libraries: the number of the first one, and how many, in the low 24 bits.
static OURS: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    fn __libc_malloc(bytes: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, bytes: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
}

/// Whether a call fails, which was made from an address. Nothing here allocates: it is called for allocations.
fn fails(kind: Kind, caller: usize) -> bool {
    if !IS_READ.swap(true, Ordering::Relaxed) {
        read_variable();
    }
    if KIND.load(Ordering::Relaxed) != kind as u8 || LEFT.load(Ordering::Relaxed) < 0 || !is_ours(caller) {
        return false;
    }
    match LEFT.fetch_sub(1, Ordering::Relaxed) {
        1 => {
            if IS_LASTING.load(Ordering::Relaxed) {
                LEFT.store(0, Ordering::Relaxed);
            }
            say_so();
            true
        }
        0 if IS_LASTING.load(Ordering::Relaxed) => {
            LEFT.store(0, Ordering::Relaxed);
            true
        }
        _ => false,
    }
}

/// The same, with the error that the caller finds in `errno`.
fn fails_with(error: c_int, kind: Kind, caller: usize) -> bool {
    let fails = fails(kind, caller);
    if fails {
        // SAFETY: it is this thread's.
        unsafe { *libc::__errno_location() = error };
    }
    fails
}

fn read_variable() {
    // SAFETY: a name that ends with zero. Nobody changes the environment this early.
    let value = unsafe { libc::getenv(c"WARPGRIND_FAIL".as_ptr()) };
    if value.is_null() {
        return;
    }
    // SAFETY: a variable is a text that ends with zero.
    let value = unsafe { CStr::from_ptr(value) }.to_bytes();
    for (name, kind) in NAMES {
        let Some(number) = value.strip_prefix(name.to_bytes()) else { continue };
        let (number, is_lasting) = number.strip_suffix(b"+").map_or((number, false), |number| (number, true));
        let digit =
            |number: i64, digit: &u8| number.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0')));
        KIND.store(kind as u8, Ordering::Relaxed);
        IS_LASTING.store(is_lasting, Ordering::Relaxed);
        LEFT.store(number.iter().fold(0, digit).max(1), Ordering::Relaxed);
    }
}

/// Whether code of one of our libraries is at an address.
fn is_ours(address: usize) -> bool {
    let page = address >> 12;
    let known = OURS.load(Ordering::Relaxed);
    if (known >> 24..(known >> 24) + (known & 0xff_ffff)).contains(&page) {
        return true;
    }
    // SAFETY: all of its fields may be zero.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the result can be written.
    if unsafe { libc::dladdr(address as *const c_void, &raw mut found) } == 0 || found.dli_fname.is_null() {
        return false;
    }
    // SAFETY: the loader's name of an object is a text that ends with zero.
    let name = unsafe { CStr::from_ptr(found.dli_fname) }.to_bytes();
    let file = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if !file.starts_with(b"libwarpgrind_") || file.starts_with(b"libwarpgrind_failures") {
        return false;
    }
    // What is between the start of the library and this address is the library's.
    let first = found.dli_fbase as usize >> 12;
    OURS.store(first << 24 | (page + 1 - first).min(0xff_ffff), Ordering::Relaxed);
    true
}

/// Creates the file that tells that a call has failed.
fn say_so() {
    // SAFETY: a name that ends with zero.
    let path = unsafe { libc::getenv(c"WARPGRIND_FAILED".as_ptr()) };
    if !path.is_null() {
        // SAFETY: a variable is a text that ends with zero; the descriptor is closed at once.
        unsafe {
            let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC;
            let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags, 0o600);
            libc::syscall(libc::SYS_close, file);
        }
    }
}

/// Declares what the loader finds: the return address becomes one more parameter, in the register given.
macro_rules! with_caller {
    ($($name:ident, $register:literal => $implementation:ident;)*) => {
        $(
            /// # Safety
            /// As the function of the C library.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                naked_asm!(concat!("mov ", $register, ", [rsp]"), "jmp {}", sym $implementation)
            }
        )*
    };
}

with_caller! {
    malloc, "rsi" => allocate;
    calloc, "rdx" => allocate_zeroed;
    realloc, "rdx" => reallocate;
    posix_memalign, "rcx" => allocate_aligned;
    aligned_alloc, "rdx" => allocate_at_multiple;
    open, "rcx" => open_file;
    open64, "rcx" => open_file;
    openat, "r8" => open_at;
    openat64, "r8" => open_at;
    write, "rcx" => write_bytes;
    pwrite64, "r8" => write_at;
    writev, "rcx" => write_parts;
    pthread_create, "r8" => create_thread;
}

/// # Safety
/// As the function of the C library.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap() {
    // All registers for parameters are taken: the address goes to the stack.
    naked_asm!("sub rsp, 16", "push [rsp + 16]", "call {}", "add rsp, 24", "ret", sym map)
}

/// # Safety
/// As the function of the C library.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64() {
    naked_asm!("sub rsp, 16", "push [rsp + 16]", "call {}", "add rsp, 24", "ret", sym map)
}

extern "C" fn allocate(bytes: usize, caller: usize) -> *mut c_void {
    if fails_with(libc::ENOMEM, Kind::Allocation, caller) {
        return std::ptr::null_mut();
    }
    // SAFETY: any size may be asked for.
    unsafe { __libc_malloc(bytes) }
}

extern "C" fn allocate_zeroed(count: usize, bytes: usize, caller: usize) -> *mut c_void {
    if fails_with(libc::ENOMEM, Kind::Allocation, caller) {
        return std::ptr::null_mut();
    }
    // SAFETY: any size may be asked for.
    unsafe { __libc_calloc(count, bytes) }
}

extern "C" fn reallocate(old: *mut c_void, bytes: usize, caller: usize) -> *mut c_void {
    if fails_with(libc::ENOMEM, Kind::Allocation, caller) {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller gives what it got from one of these functions.
    unsafe { __libc_realloc(old, bytes) }
}

extern "C" fn allocate_aligned(out: *mut *mut c_void, alignment: usize, bytes: usize, caller: usize) -> c_int {
    if fails(Kind::Allocation, caller) {
        return libc::ENOMEM;
    }
    // SAFETY: any size may be asked for.
    let start = unsafe { __libc_memalign(alignment, bytes) };
    if start.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller promises that it can be written.
    unsafe { out.write(start) };
    0
}

extern "C" fn allocate_at_multiple(alignment: usize, bytes: usize, caller: usize) -> *mut c_void {
    if fails_with(libc::ENOMEM, Kind::Allocation, caller) {
        return std::ptr::null_mut();
    }
    // SAFETY: any size may be asked for.
    unsafe { __libc_memalign(alignment, bytes) }
}

#[rustfmt::skip]
extern "C" fn map(
    address: usize, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: i64, caller: usize,
) -> *mut c_void {
    if fails_with(libc::ENOMEM, Kind::Mapping, caller) {
        return libc::MAP_FAILED;
    }
    // SAFETY: what the caller asks the system for.
    unsafe { libc::syscall(libc::SYS_mmap, address, bytes, protection, flags, file, offset) as *mut c_void }
}

extern "C" fn open_file(path: *const c_char, flags: c_int, mode: c_int, caller: usize) -> c_int {
    open_at(libc::AT_FDCWD, path, flags, mode, caller)
}

extern "C" fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: c_int, caller: usize) -> c_int {
    if fails_with(libc::EMFILE, Kind::Opening, caller) {
        return -1;
    }
    // SAFETY: what the caller asks the system for.
    unsafe { libc::syscall(libc::SYS_openat, directory, path, flags, mode) as c_int }
}

extern "C" fn write_bytes(file: c_int, start: *const c_void, bytes: usize, caller: usize) -> isize {
    if fails_with(libc::ENOSPC, Kind::Writing, caller) {
        return -1;
    }
    // SAFETY: what the caller asks the system for.
    unsafe { libc::syscall(libc::SYS_write, file, start, bytes) as isize }
}

extern "C" fn write_at(file: c_int, start: *const c_void, bytes: usize, offset: i64, caller: usize) -> isize {
    if fails_with(libc::ENOSPC, Kind::Writing, caller) {
        return -1;
    }
    // SAFETY: what the caller asks the system for.
    unsafe { libc::syscall(libc::SYS_pwrite64, file, start, bytes, offset) as isize }
}

extern "C" fn write_parts(file: c_int, parts: *const c_void, count: c_int, caller: usize) -> isize {
    if fails_with(libc::ENOSPC, Kind::Writing, caller) {
        return -1;
    }
    // SAFETY: what the caller asks the system for.
    unsafe { libc::syscall(libc::SYS_writev, file, parts, count) as isize }
}

extern "C" fn create_thread(
    thread: *mut c_void,
    attributes: *const c_void,
    start: *const c_void,
    data: *mut c_void,
    caller: usize,
) -> c_int {
    type Create = unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, *mut c_void) -> c_int;
    if fails(Kind::Thread, caller) {
        return libc::EAGAIN;
    }
    // SAFETY: a name that ends with zero.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
    if next.is_null() {
        return libc::EAGAIN;
    }
    // SAFETY: it is the function of the C library, which has this type; the parameters are the caller's.
    unsafe { std::mem::transmute::<*mut c_void, Create>(next)(thread, attributes, start, data) }
}
