//! Which file we are, and where in memory.

use std::ffi::{CStr, c_char, c_void};
use std::os::raw::c_int;

/// The file name of this library, by which it is known in `LD_AUDIT` and `LD_PRELOAD`.
pub(crate) const FILE_NAME: &[u8] = b"libwarpgrind_start.so";

/// What the loader knows about an object: the public part of glibc's `struct link_map` (link.h).
#[repr(C)]
#[derive(Debug)]
pub struct LinkMap {
    /// What is added to the addresses in the file.
    pub address: usize,
    /// The path; empty for the program itself.
    pub name: *const c_char,
    dynamic: *const c_void,
    next: *const LinkMap,
    previous: *const LinkMap,
}

const RTLD_DL_LINKMAP: c_int = 2;
const RTLD_DI_LMID: c_int = 1;

unsafe extern "C" {
    fn dladdr1(address: *const c_void, info: *mut libc::Dl_info, extra: *mut *mut c_void, flags: c_int) -> c_int;
    fn secure_getenv(name: *const c_char) -> *const c_char;
    fn dlinfo(handle: *mut c_void, request: c_int, result: *mut c_void) -> c_int;
}

/// What the loader knows about this copy of ours.
pub(crate) fn own_map() -> Option<&'static LinkMap> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    let mut map = std::ptr::null_mut();
    // SAFETY: both results are writable; with this flag the second is a link map, which lives as long as we are loaded.
    unsafe {
        if dladdr1((own_map as fn() -> _) as *const c_void, info.as_mut_ptr(), &raw mut map, RTLD_DL_LINKMAP) == 0 {
            return None;
        }
        map.cast::<LinkMap>().as_ref()
    }
}

/// Whether this copy is in the namespace of the program.
pub(crate) fn is_in_program() -> bool {
    let Some(map) = own_map() else { return false };
    let mut namespace: libc::c_long = -1;
    // SAFETY: in glibc a handle is a link map; the result is a `Lmid_t`, which is a long.
    let failed = unsafe { dlinfo((&raw const *map).cast_mut().cast(), RTLD_DI_LMID, (&raw mut namespace).cast()) };
    failed == 0 && namespace == LM_ID_BASE
}

/// The namespace of the program.
pub(crate) const LM_ID_BASE: libc::c_long = 0;

/// The part of a path after the last slash.
pub(crate) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// A variable of the environment; nothing under `AT_SECURE`.
pub(crate) fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name is a C string. The values that we ask for are those with which the process was started, which stay
    // where they are.
    unsafe {
        let value = secure_getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}
