//! Links LLVM.
//!
//! **In release builds statically.** Programs bring LLVMs of their own, such as Numba's and Triton's. The loader gives one
//! name one meaning in a process: of a shared LLVM, ours or theirs, each would call into the other. What is linked
//! statically into a library is local to it, since that exports nothing but its own functions. The same holds for LLVM's
//! C++ library, of which a program may have loaded an older version.
//!
//! **Otherwise dynamically**: tests link dozens of programs, and do not meet other LLVMs.
//!
//! Only the parts that are used: `llvm-sys` would link all of LLVM with all of its targets, so it links nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the crate uses, with all that this needs.
const COMPONENTS: [&str; 4] = ["orcjit", "passes", "x86codegen", "x86asmparser"];

/// What LLVM compresses sections with. Not every machine has these libraries, so packages bring them along.
const COMPRESSION: [&str; 2] = ["z", "zstd"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LLVM_SYS_221_PREFIX");
    let config = match std::env::var_os("LLVM_SYS_221_PREFIX") {
        Some(prefix) => PathBuf::from(prefix).join("bin/llvm-config"),
        None => PathBuf::from("llvm-config"),
    };
    let Some(directory) = ask(&config, &["--libdir"]) else {
        println!(
            "cargo::error=LLVM 22 is not at {}: install llvm-22-dev, or set LLVM_SYS_221_PREFIX",
            config.display()
        );
        return;
    };
    println!("cargo::rustc-link-search=native={}", directory.trim());
    if std::env::var("PROFILE").as_deref() == Ok("release") {
        if link_statically(&config) {
            return;
        }
        println!("cargo::warning=LLVM has no static libraries here: programs with an LLVM of their own may crash");
    }
    println!("cargo::rustc-link-lib=dylib=LLVM-22");
}

/// What `llvm-config` answers.
fn ask(config: &Path, question: &[&str]) -> Option<String> {
    let output = Command::new(config).args(question).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

/// Whether there are static libraries.
fn link_statically(config: &Path) -> bool {
    let with = |what| [&["--link-static", what], &COMPONENTS[..]].concat();
    let (Some(libraries), Some(system)) = (ask(config, &with("--libs")), ask(config, &with("--system-libs"))) else {
        return false;
    };
    for library in libraries.split_whitespace().filter_map(|flag| flag.strip_prefix("-l")) {
        println!("cargo::rustc-link-lib=static:-bundle={library}");
    }
    // Of these, the linker takes what is needed.
    for library in system.split_whitespace() {
        let path = Path::new(library);
        if let Some(name) = library.strip_prefix("-l") {
            if !(COMPRESSION.contains(&name) && link_archive(name)) {
                println!("cargo::rustc-link-lib=dylib={name}");
            }
        } else if let (Some(directory), Some(name)) = (path.parent(), path.file_stem().and_then(|name| name.to_str())) {
            println!("cargo::rustc-link-search=native={}", directory.display());
            println!("cargo::rustc-link-lib=dylib={}", name.trim_start_matches("lib"));
        }
    }
    if !link_archive("stdc++") {
        println!("cargo::rustc-link-lib=dylib=stdc++");
    }
    true
}

/// Links a library from its archive; false if the compiler knows of none.
fn link_archive(name: &str) -> bool {
    let question = format!("-print-file-name=lib{name}.a");
    let path = ask(Path::new("c++"), &[&question]).map(|path| PathBuf::from(path.trim()));
    let Some(path) = path.filter(|path| path.is_absolute()) else { return false };
    println!("cargo::rustc-link-search=native={}", path.parent().unwrap_or(&path).display());
    println!("cargo::rustc-link-lib=static:-bundle={name}");
    true
}
