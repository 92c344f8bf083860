//! What the loader asks an auditing library. All of it is called with the loader's lock held.
//!
//! The order of events in glibc (2.36; `rtld.c`, `dl-open.c`): each object is announced by `la_objopen` when it is mapped;
//! when all are, `la_activity` says `LA_ACT_CONSISTENT`, at start-up after relocation and in `dlopen` before it, and in
//! both cases before any constructor runs. That is the moment to redirect static runtimes, whose constructors register
//! kernels.
//!
//! **Why the loader is asked.** `LD_LIBRARY_PATH` misses absolute paths and `RPATH`, `LD_PRELOAD` misses absolute
//! paths; an auditing library is asked about every library. It lives in a namespace of its own, so the same file is
//! preloaded, too, and holds in the program's namespace what the program is to call.
//!
//! **Under Valgrind** the auditing library is a copy with a C library of its own beside it (`check/valgrind.rs` of `cli` has the
//! reason), so it is not the same file as the preloaded one: each is known by its file name.
//!
//! **One library has six names.** The loader checks versions of symbols by the names of libraries, and forgets further
//! names of a file that it already has; so only the first name is answered with our path, and later ones when the
//! loader looks for them in a directory.

use std::ffi::{CStr, OsStr, c_char, c_long, c_uint};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::sync::Mutex;

use program::runtime::{Linkage, StaticRuntime, has_kernels};
use program::{Elf, has_machine_code_only};

use crate::identity::{self, LM_ID_BASE, LinkMap};
use crate::redirect::{self, Trampolines};
use crate::{message, run, stubs};

/// The version of the interface that we know: `LAV_CURRENT` of glibc 2.35 and newer.
const VERSION: c_uint = 2;
/// The name is as it was asked for, not yet looked for in a directory.
const LA_SER_ORIG: c_uint = 1;
const LA_ACT_CONSISTENT: c_uint = 0;

static STATE: Mutex<State> = Mutex::new(State {
    ours_in_program: None,
    cuda_is_loaded: false,
    new: Vec::new(),
    redirected: Vec::new(),
    closed: Vec::new(),
});

/// What is known about the process.
struct State {
    /// What is added to the addresses of our copy in the program.
    ours_in_program: Option<usize>,
    /// Whether `libwarpgrind_cuda.so` is in the program.
    cuda_is_loaded: bool,
    /// Objects that are mapped and not yet looked at.
    new: Vec<Object>,
    /// Objects whose runtime was redirected.
    redirected: Vec<(usize, Trampolines)>,
    /// What is left of objects that were closed.
    closed: Vec<Trampolines>,
}

/// An object in the program.
struct Object {
    /// The address of its link map, by which the loader identifies it.
    id: usize,
    /// What is added to the addresses in its file.
    address: usize,
    path: Vec<u8>,
}

/// Names by which programs ask for what `libwarpgrind_cuda.so` is.
const NAMES: [&[u8]; 6] =
    [b"libcuda.so.1", b"libcuda.so", b"libcudart.so.11.0", b"libcudart.so.12", b"libcudart.so.13", b"libcudart.so"];

/// How the command names us in `LD_PRELOAD` if our path cannot be written there.
const NOWHERE: &[u8] = b"/warpgrind/libwarpgrind_start.so";

/// Agrees on a version of the interface. The loader must not forget us, not even in a process without settings that can be
/// read: it may still have to preload us by a name that only [`la_objsearch`] knows the path of.
#[unsafe(no_mangle)]
pub extern "C" fn la_version(version: c_uint) -> c_uint {
    version.min(VERSION)
}

/// Says where a library is to be loaded from.
///
/// Only the first name is answered with the path of our library. The loader remembers a library's other names, by which
/// versions of symbols are checked, only if they are found in a directory (`_dl_map_object_from_fd` adds the name it looks
/// for, and the name before our answer only to what is new); so other names are let through, and the answer is given for
/// the first directory in which the name is looked for.
///
/// # Safety
/// The loader calls this with a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objsearch(name: *const c_char, _cookie: *mut usize, flag: c_uint) -> *const c_char {
    // SAFETY: the loader passes a C string.
    let asked = unsafe { CStr::from_ptr(name) }.to_bytes();
    let file_name = identity::file_name(asked);
    if asked == NOWHERE {
        return identity::own_map().map_or(name, |map| map.name);
    }
    if !NAMES.contains(&file_name) {
        return name;
    }
    let Some(path) = cuda_library() else { return name };
    let is_bare = flag == LA_SER_ORIG && asked.len() == file_name.len();
    if is_bare && STATE.lock().is_ok_and(|state| state.cuda_is_loaded) { name } else { path.as_ptr() }
}

/// Notes a new object. The answer is that we are not interested in its calls, so that they cost nothing.
///
/// # Safety
/// The loader calls this with a link map.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objopen(map: *mut LinkMap, namespace: c_long, _cookie: *mut usize) -> c_uint {
    // SAFETY: the loader passes a link map, whose name is a C string.
    let (address, path) = unsafe { ((*map).address, CStr::from_ptr((*map).name)) };
    let Some(cuda_library) = cuda_library().filter(|_| namespace == LM_ID_BASE) else { return 0 };
    let Ok(mut state) = STATE.lock() else { return 0 };
    // The process goes on, so what was closed is gone.
    state.closed.clear();
    if identity::file_name(path.to_bytes()) == identity::FILE_NAME {
        state.ours_in_program = Some(address);
    } else if cuda_library == path {
        state.cuda_is_loaded = true;
    } else {
        state.new.push(Object { id: map.addr(), address, path: path.to_bytes().to_vec() });
    }
    0
}

/// Looks at new objects when all of them are there.
///
/// # Safety
/// The loader calls this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_activity(_cookie: *mut usize, activity: c_uint) {
    let Ok(mut state) = STATE.lock() else { return };
    if activity != LA_ACT_CONSISTENT {
        return;
    }
    for object in std::mem::take(&mut state.new) {
        if let Some(trampolines) = take_over(&object, state.ours_in_program) {
            state.redirected.push((object.id, trampolines));
        }
    }
}

/// Forgets an object. Its cookie is still what the loader makes it at first: the address of its link map.
///
/// When the process ends, the loader says this of every object, and the threads of the program go on to call what is in
/// them. So what their calls lead to stays until the next object is loaded.
///
/// # Safety
/// The loader calls this with the cookie that it passed to `la_objopen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objclose(cookie: *mut usize) -> c_uint {
    // SAFETY: the loader passes a pointer to the cookie.
    let id = unsafe { *cookie };
    if let Ok(mut state) = STATE.lock() {
        state.new.retain(|object| object.id != id);
        let closed: Vec<_> = state.redirected.extract_if(.., |(redirected, _)| *redirected == id).collect();
        state.closed.extend(closed.into_iter().map(|(_, trampolines)| trampolines));
    }
    0
}

/// Redirects the static runtime of an object, if it has one.
fn take_over(object: &Object, ours_in_program: Option<usize>) -> Option<Trampolines> {
    let path: &[u8] = if object.path.is_empty() { b"/proc/self/exe" } else { &object.path };
    // What the kernel adds to each process has a name, but no file.
    if !path.contains(&b'/') {
        return None;
    }
    let file = File::open(OsStr::from_bytes(path)).ok()?;
    // What the loader has loaded is an ELF file; what is damaged in it does not concern it.
    let elf = Elf::read(&file).ok()?;
    let name: &[u8] = if object.path.is_empty() { b"the program" } else { &object.path };
    let Some(runtime) = StaticRuntime::find(&elf).ok()? else {
        if has_kernels(&elf) && Linkage::of(&elf) == Ok(Linkage::Stripped) {
            let advice: &[u8] = if is_machine_code(name) {
                b" is only given away as machine code, with a CUDA runtime of its own, so its kernels cannot run here; run \
                  the parts of the program that do not use it"
            } else {
                b" has a CUDA runtime of its own, without symbols, so its kernels cannot run here; link with `-cudart \
                  shared` (NVCC_APPEND_FLAGS='-cudart shared' make), or do not strip it"
            };
            message::say(&[name, advice]);
        }
        return None;
    };
    let (Some(major), Some(ours_in_program)) = (runtime.major, ours_in_program) else {
        let reason: &[u8] = if runtime.major.is_none() {
            b" has a CUDA runtime of an unknown version, which is not redirected; link with `-cudart shared`"
        } else {
            b" has a CUDA runtime of its own, which is not redirected: LD_PRELOAD was changed after `warpgrind run` set it"
        };
        message::say(&[name, reason]);
        return None;
    };
    // Both copies of ours come from the same file, so that what is here is there at the same distance from the start.
    let own = identity::own_map()?.address;
    let target = |function| stubs::address(major, function) - own + ours_in_program;
    match redirect::redirect(&elf, object.address, &runtime, target) {
        Ok(trampolines) => trampolines,
        Err(failure) => {
            message::say(&[name, b": the CUDA runtime in it is not redirected: ", failure.to_string().as_bytes()]);
            None
        }
    }
}

/// Whether a library is known to be machine code only, by its path.
fn is_machine_code(path: &[u8]) -> bool {
    let file_name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    std::str::from_utf8(file_name).is_ok_and(has_machine_code_only)
}

fn cuda_library() -> Option<&'static CStr> {
    run::get().map(|run| run.library.as_c_str())
}
