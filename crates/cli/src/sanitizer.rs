//! What programs that were built with a sanitizer need to start with our libraries in front of theirs.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use program::Elf;

/// Sets options of sanitizers that a program was built with. What the user has set comes after them, and counts.
pub(crate) fn set_options(command: &mut Command, program: &Path) {
    let Some(found) = Sanitizers::of(program) else { return };
    if found.address {
        // Its library wants to be the first of all; it works as the second, too.
        add(command, "ASAN_OPTIONS", "verify_asan_link_order=0");
    }
    if found.thread {
        // It does not see how threads of ours wait for each other.
        add(command, "TSAN_OPTIONS", "ignore_noninstrumented_modules=1");
    }
    if found.thread_library {
        // The loader gives room away for the variables of threads before it knows the program, because it audits.
        add(command, "GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=0x100000");
    }
}

#[derive(Clone, Copy, Debug)]
struct Sanitizers {
    address: bool,
    thread: bool,
    /// The one for threads is a library of its own, as GCC has it.
    thread_library: bool,
}

impl Sanitizers {
    /// Those of a program; nothing if it is none that we can read.
    fn of(program: &Path) -> Option<Self> {
        let file = File::open(program).ok()?;
        let elf = Elf::read(&file).ok()?;
        let needed = elf.dynamic().ok()?.needed;
        let needs = |name: &str| needed.iter().any(|library| library.starts_with(name));
        let symbols = elf.dynamic_symbols().ok()?;
        let has = |name: &[u8]| symbols.iter().flat_map(|symbols| symbols.iter()).any(|symbol| symbol.name == name);
        let thread_library = needs("libtsan.so");
        Some(Self {
            address: needs("libasan.so") || has(b"__asan_init"),
            thread: thread_library || has(b"__tsan_init"),
            thread_library,
        })
    }
}

fn add(command: &mut Command, variable: &str, option: &str) {
    let mut options = OsString::from(option);
    if let Some(of_user) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        options.push(":");
        options.push(of_user);
    }
    command.env(variable, options);
}
