//! The program and the libraries that are loaded.

use std::ffi::{CStr, c_int, c_void};

/// A program or library in memory.
#[derive(Clone, Debug)]
pub(crate) struct LoadedObject {
    pub(crate) path: String,
    /// What is added to addresses of its file.
    pub(crate) bias: usize,
    /// Its parts, from first address to end.
    parts: Vec<(usize, usize)>,
}

impl LoadedObject {
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.parts.iter().any(|&(start, end)| (start..end).contains(&address))
    }
}

/// All that are loaded.
pub(crate) fn loaded() -> Vec<LoadedObject> {
    let mut objects: Vec<LoadedObject> = Vec::new();
    // SAFETY: the function is called with the pointer that is given, while the list is alive, on this thread.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut objects).cast()) };
    objects
}

/// How often something was loaded.
pub(crate) fn times_loaded() -> u64 {
    /// # Safety
    /// `info` is valid, and `times` a number.
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _size: usize, times: *mut c_void) -> c_int {
        // SAFETY: the loader calls this with valid information, and with the pointer to our number.
        unsafe { *times.cast::<u64>() = (*info).dlpi_adds };
        1
    }
    let mut times = 0_u64;
    // SAFETY: the function is called with the pointer that is given, while the number is alive, on this thread.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut times).cast()) };
    times
}

/// # Safety
/// `info` is valid, and `objects` is the list of [`loaded`].
unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, objects: *mut c_void) -> c_int {
    // SAFETY: the loader calls this with valid information, whose headers it counts, and with the pointer to our list.
    let (info, objects, headers) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        (info, &mut *objects.cast::<Vec<LoadedObject>>(), headers)
    };
    let path = if info.dlpi_name.is_null() {
        String::new()
    } else {
        // SAFETY: a string that the loader keeps.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned()
    };
    // The program itself has no name here.
    let path = if path.is_empty() && objects.is_empty() {
        std::env::current_exe().map_or(path, |path| path.display().to_string())
    } else {
        path
    };
    let bias = info.dlpi_addr as usize;
    let parts = headers.iter().filter(|header| header.p_type == libc::PT_LOAD).map(|header| {
        let start = bias + header.p_vaddr as usize;
        (start, start + header.p_memsz as usize)
    });
    objects.push(LoadedObject { path, bias, parts: parts.collect() });
    0
}
