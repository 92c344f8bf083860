//! Which build of a library it is that runs here.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// What tells one build of the program or library that has this address from all others: the build id that the linker
/// wrote, which is a hash of the whole, or else the file and its age. Nothing if neither is known.
pub(crate) fn build_with(address: usize) -> Option<Vec<u8>> {
    let mut search = Search { address, found: None };
    // SAFETY: `visit` is given the search that outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    match search.found? {
        Build::Id(id) => Some(id),
        Build::File(path) => {
            let file = std::fs::metadata(path).ok()?;
            let facts = [file.dev(), file.ino(), file.len(), file.mtime() as u64, file.mtime_nsec() as u64];
            Some(facts.iter().flat_map(|fact| fact.to_le_bytes()).collect())
        }
    }
}

struct Search {
    address: usize,
    found: Option<Build>,
}

enum Build {
    Id(Vec<u8>),
    File(PathBuf),
}

/// Looks at one library that is loaded. Not 0 ends the search.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader passes the description of a library that stays loaded meanwhile; `build_with` its search.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    let start = info.dlpi_addr as usize;
    // SAFETY: the loader says how many headers there are.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let has_address = |header: &&libc::Elf64_Phdr| {
        let from = start.wrapping_add(header.p_vaddr as usize);
        header.p_type == libc::PT_LOAD && (from..from + header.p_memsz as usize).contains(&search.address)
    };
    if !headers.iter().any(|header| has_address(&header)) {
        return 0;
    }
    let id = headers.iter().filter(|header| header.p_type == libc::PT_NOTE).find_map(|header| {
        let from = std::ptr::with_exposed_provenance::<u8>(start.wrapping_add(header.p_vaddr as usize));
        // SAFETY: notes that the loader knows of are in memory, as all that it has loaded.
        let notes = unsafe { std::slice::from_raw_parts(from, header.p_filesz as usize) };
        build_id(notes, header.p_align.max(4) as usize)
    });
    search.found = Some(match id {
        Some(id) => Build::Id(id),
        None => {
            // SAFETY: a name of the loader ends with zero.
            let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
            let path = if name.is_empty() { b"/proc/self/exe" } else { name };
            Build::File(OsStr::from_bytes(path).into())
        }
    });
    1
}

/// The build id among notes: size of the name, size of the contents, kind, and then name and contents, each aligned.
fn build_id(mut notes: &[u8], align: usize) -> Option<Vec<u8>> {
    const BUILD_ID: u32 = 3;
    loop {
        let word = |at: usize| Some(u32::from_le_bytes(notes.get(at..at + 4)?.try_into().ok()?));
        let (name, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let contents = (12 + name).checked_next_multiple_of(align)?;
        if kind == BUILD_ID && notes.get(12..12 + name)? == b"GNU\0" && size > 0 {
            return Some(notes.get(contents..contents + size)?.to_vec());
        }
        notes = notes.get((contents + size).checked_next_multiple_of(align)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_among_notes() {
        let mut notes = Vec::new();
        for (kind, contents) in [(1_u32, &b"abcde"[..]), (3, b"0123456789")] {
            notes.extend([4, contents.len() as u32, kind].iter().flat_map(|word| word.to_le_bytes()));
            notes.extend(b"GNU\0");
            notes.extend(contents);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(build_id(&notes, 4).as_deref(), Some(&b"0123456789"[..]));
        for end in 0..notes.len() - 3 {
            assert_eq!(build_id(&notes[..end], 4), None, "{end}");
        }
    }

    #[test]
    fn we_and_the_system_are_different_builds() {
        let ours = build_with(build_id as *const () as usize);
        let theirs = build_with(libc::getpid as *const () as usize);
        assert!(ours.is_some() && theirs.is_some() && ours != theirs, "{ours:?} {theirs:?}");
        assert_eq!(build_with(8), None);
    }
}
