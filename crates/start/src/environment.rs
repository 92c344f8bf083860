//! The environment of child processes, changed without allocating memory: between `fork` and `exec` another thread may
//! have held the allocator's lock, and after `vfork` the memory is that of the parent.
//!
//! Static programs keep the environment of the run: their loader does not exist and cannot stumble over it, and what
//! they start is followed. Programs of 32 bits and for musl lose it, because their loaders would fail to load us.

use std::ffi::{CStr, CString, c_char};
use std::ptr::null;
use std::sync::OnceLock;

use crate::identity::{FILE_NAME, file_name};
use crate::run::{self, Run};

/// What belongs to a run, as this process has found it in its own environment.
struct Inherited {
    /// What we are called in `LD_AUDIT`.
    audit: CString,
    /// What we are called in `LD_PRELOAD`.
    preload: CString,
    /// Our own variables, `WARPGRIND_SETTINGS` and `WARPGRIND_LOG`, and NVTX's if it has our library.
    variables: Vec<CString>,
}

static INHERITED: OnceLock<Inherited> = OnceLock::new();

/// Lists in which the loader finds us, and what separates their entries.
const LISTS: [(&[u8], &[u8]); 2] = [(b"LD_AUDIT", b":"), (b"LD_PRELOAD", b": ")];

/// The library that NVTX loads; ours, unless the user has another one.
const NVTX: &[u8] = b"NVTX_INJECTION64_PATH";

/// What the names of our own variables begin with.
const PREFIX: &[u8] = b"WARPGRIND_";

/// Whether the loader asks the copy of ours that has a C library of its own, as Valgrind needs it.
pub(crate) fn is_ready_for_valgrind() -> bool {
    let audit = INHERITED.get().map(|inherited| inherited.audit.to_bytes()).unwrap_or_default();
    let directory = std::path::Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(audit)).parent();
    directory.is_some_and(|directory| directory.join("for-audit").is_dir())
}

/// Notes what belongs to the run; false if `LD_AUDIT` and `LD_PRELOAD` are not as `warpgrind run` sets them.
pub(crate) fn note(run: &Run) -> bool {
    let own_entry = |name: &str, separators: &[u8]| {
        let value = std::env::var_os(name)?;
        let entry = entries(value.as_encoded_bytes(), separators).find(|entry| is_ours(entry))?;
        CString::new(entry).ok()
    };
    let (Some(audit), Some(preload)) = (own_entry("LD_AUDIT", b":"), own_entry("LD_PRELOAD", b": ")) else {
        return false;
    };
    let ours = std::env::vars_os().filter(|(name, value)| {
        let (name, value) = (name.as_encoded_bytes(), value.as_encoded_bytes());
        name.starts_with(PREFIX) || (name == NVTX && value == run.library.as_bytes())
    });
    let variables = ours.filter_map(|(name, value)| {
        CString::new([name.as_encoded_bytes(), b"=", value.as_encoded_bytes()].concat()).ok()
    });
    INHERITED.set(Inherited { audit, preload, variables: variables.collect() }).is_ok()
}

/// Takes us out of the environment of this process, and so of its children, however they are started.
pub(crate) fn remove_from_own() {
    for (name, separators) in LISTS {
        let name = str::from_utf8(name).expect("the names are ASCII");
        let Some(value) = std::env::var_os(name) else { continue };
        let kept: Vec<&[u8]> = entries(value.as_encoded_bytes(), separators).filter(|entry| !is_ours(entry)).collect();
        // SAFETY: this is called by our constructor, before the program has threads.
        unsafe {
            if kept.is_empty() {
                std::env::remove_var(name);
            } else {
                let kept = kept.join(&b':');
                std::env::set_var(name, <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&kept));
            }
        }
    }
}

/// Calls `act` with an environment that has all that belongs to the run; `environment` itself if it already has.
///
/// # Safety
/// `environment` must be null, or a list of C strings that ends with null.
pub(crate) unsafe fn with_us<R>(environment: *const *const c_char, act: impl FnOnce(*const *const c_char) -> R) -> R {
    let Some(inherited) = INHERITED.get() else { return act(environment) };
    // SAFETY: the caller promises it.
    let strings = || unsafe { strings(environment) };
    let ours = [inherited.audit.as_bytes(), inherited.preload.as_bytes()];
    let has_us = |(name, separators): (&[u8], &[u8])| {
        strings().any(|string| value_of(string, name).is_some_and(|value| entries(value, separators).any(is_ours)))
    };
    let is_set = |variable: &CStr| strings().any(|string| name_of(string) == name_of(variable));
    if LISTS.into_iter().all(has_us) && inherited.variables.iter().all(|variable| is_set(variable)) {
        return act(environment);
    }
    let more = inherited.variables.len() + LISTS.len();
    let more_bytes = inherited.audit.count_bytes() + inherited.preload.count_bytes() + 64;
    // SAFETY: the caller promises that the list is one.
    unsafe {
        rewritten(environment, more, more_bytes, act, |list| {
            for ((name, separators), ours) in LISTS.into_iter().zip(ours) {
                let theirs = strings().find_map(|string| value_of(string, name)).unwrap_or_default();
                let ours = (!entries(theirs, separators).any(is_ours)).then_some(ours);
                list.add_joined(name, ours.into_iter().chain(Some(theirs).filter(|theirs| !theirs.is_empty())));
            }
            for string in strings().filter(|string| !is_list(string)) {
                list.add(string);
            }
            for variable in inherited.variables.iter().filter(|variable| !is_set(variable)) {
                list.add(variable);
            }
        })
    }
}

/// Calls `act` with an environment in which nothing belongs to the run.
///
/// # Safety
/// `environment` must be null, or a list of C strings that ends with null.
pub(crate) unsafe fn without_us<R>(
    environment: *const *const c_char,
    act: impl FnOnce(*const *const c_char) -> R,
) -> R {
    // SAFETY: the caller promises it.
    let strings = || unsafe { strings(environment) };
    // SAFETY: the caller promises that the list is one.
    unsafe {
        rewritten(environment, LISTS.len(), 64, act, |list| {
            for (name, separators) in LISTS {
                if let Some(theirs) = strings().find_map(|string| value_of(string, name)) {
                    list.add_joined(name, entries(theirs, separators).filter(|entry| !is_ours(entry)));
                }
            }
            let library = run::get().map(|run| run.library.as_bytes());
            let is_of_run = |string: &CStr| {
                let nvtx = value_of(string, NVTX);
                string.to_bytes().starts_with(PREFIX) || (nvtx.is_some() && nvtx == library)
            };
            for string in strings().filter(|string| !is_list(string) && !is_of_run(string)) {
                list.add(string);
            }
        })
    }
}

/// As much as is taken from the stack: a vfork child runs on the stack of its parent.
const STACK_WORDS: usize = 2048;

/// Calls `act` with a list that `fill` makes, of at most `more` strings and `more_bytes` bytes more than there are.
///
/// # Safety
/// `environment` must be null, or a list of C strings that ends with null.
unsafe fn rewritten<R>(
    environment: *const *const c_char,
    more: usize,
    more_bytes: usize,
    act: impl FnOnce(*const *const c_char) -> R,
    fill: impl FnOnce(&mut List<'_>),
) -> R {
    // SAFETY: the caller promises it.
    let strings = || unsafe { strings(environment) };
    let pointers = strings().count() + more + 1;
    let list_bytes: usize = strings().filter(|string| is_list(string)).map(|string| string.count_bytes() + 2).sum();
    let words = pointers + (list_bytes + more_bytes).div_ceil(size_of::<usize>());
    let run = |memory: &mut [usize]| {
        let (pointers, bytes) = memory.split_at_mut(pointers);
        // SAFETY: words may be seen as bytes, of which there are eight times as many.
        let bytes = unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast::<u8>(), size_of_val(bytes)) };
        let mut list = List { pointers, length: 0, bytes };
        fill(&mut list);
        list.pointers[list.length] = 0;
        act(list.pointers.as_ptr().cast())
    };
    if words <= STACK_WORDS {
        return run(&mut [0; STACK_WORDS]);
    }
    // A vfork child that goes on to be another program leaves these pages to its parent, which has one such mapping more.
    // SAFETY: a new mapping, which is ours until it is unmapped.
    unsafe {
        let (size, flags) = (words * size_of::<usize>(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let memory = libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if memory == libc::MAP_FAILED {
            crate::message::give_up(&[b"there is no memory for the environment of a child"]);
        }
        let result = run(std::slice::from_raw_parts_mut(memory.cast(), words));
        let errno = *libc::__errno_location();
        libc::munmap(memory, size);
        *libc::__errno_location() = errno;
        result
    }
}

/// An environment in the making.
struct List<'a> {
    /// Addresses of strings.
    pointers: &'a mut [usize],
    length: usize,
    /// Room for strings that are new.
    bytes: &'a mut [u8],
}

impl List<'_> {
    fn add(&mut self, string: &CStr) {
        self.pointers[self.length] = string.as_ptr().addr();
        self.length += 1;
    }

    /// Adds a variable whose value is these parts with colons between them; none if there is no part.
    fn add_joined<'p>(&mut self, name: &[u8], parts: impl Iterator<Item = &'p [u8]>) {
        let mut used = 0;
        let mut put = |part: &[u8]| {
            self.bytes[used..used + part.len()].copy_from_slice(part);
            used += part.len();
        };
        put(name);
        let mut separator: &[u8] = b"=";
        for part in parts {
            put(separator);
            put(part);
            separator = b":";
        }
        put(b"\0");
        if separator == b"=" {
            return;
        }
        let (string, rest) = std::mem::take(&mut self.bytes).split_at_mut(used);
        self.bytes = rest;
        self.pointers[self.length] = string.as_ptr().addr();
        self.length += 1;
    }
}

/// The strings of an environment.
///
/// # Safety
/// `environment` must be null, or a list of C strings that ends with null, and stay so as long as this is used.
unsafe fn strings<'a>(environment: *const *const c_char) -> impl Iterator<Item = &'a CStr> {
    let mut next = environment;
    std::iter::from_fn(move || {
        if next.is_null() {
            return None;
        }
        // SAFETY: the caller promises a list that ends with null, after which we do not go.
        unsafe {
            let string = *next;
            next = if string.is_null() { null() } else { next.add(1) };
            (!string.is_null()).then(|| CStr::from_ptr(string))
        }
    })
}

fn name_of(string: &CStr) -> &[u8] {
    string.to_bytes().split(|&byte| byte == b'=').next().unwrap_or_default()
}

fn value_of<'a>(string: &'a CStr, name: &[u8]) -> Option<&'a [u8]> {
    string.to_bytes().strip_prefix(name)?.strip_prefix(b"=")
}

fn is_list(string: &CStr) -> bool {
    LISTS.iter().any(|(name, _)| value_of(string, name).is_some())
}

fn entries<'a>(value: &'a [u8], separators: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    value.split(move |byte| separators.contains(byte)).filter(|entry| !entry.is_empty())
}

fn is_ours(entry: &[u8]) -> bool {
    file_name(entry) == FILE_NAME
}
