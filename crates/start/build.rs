//! Where the copy of the library that audits under Valgrind finds a C library of its own: see `src/audit.rs`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-cdylib=-Wl,-rpath,$ORIGIN/for-audit");
}
