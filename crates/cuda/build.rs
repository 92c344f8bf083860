//! Makes from the lists of functions in `api/`:
//!
//! - `signatures.rs`: that every function we implement has the signature that the headers give it;
//! - `unsupported.rs`: the functions that we do not implement, which say so;
//! - `lookup.rs`: what `cuGetProcAddress` finds;
//! - `versions.rs`, `versions.map`: the runtime's symbols under the names of their versions, see [`symbol_versions`];
//! - `layouts.rs`: structs and constants, for `tests/abi.rs`.
//!
//! A function is implemented if a file in `src/ffi` has `fn NAME(`; its module must be visible in `src/ffi`.
//!
//! **Why one library for driver and runtime of all versions.** The runtime stands on the driver's state, and a process
//! may load both, the runtime even in two versions; under the names of one file the loader gives it one. Programs that
//! were linked with 11, 12 and 13 ask for symbols of different versions, and some functions changed their signature
//! without changing their name: each version of a symbol leads to its own function.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use table::{DriverFunction, RuntimeFunction};

#[path = "build/layouts.rs"]
mod layouts;
#[path = "build/signature.rs"]
mod signature;
#[path = "build/table.rs"]
mod table;

fn main() {
    for path in ["api", "build", "build.rs", "src/abi", "src/ffi"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let driver = table::driver_functions(&read("api/driver.txt"));
    let runtime = table::runtime_functions(&read("api/runtime.txt"));
    let implemented = table::implemented(Path::new("src/ffi"));
    refuse_unknown(&driver, &runtime, &implemented);

    write_output("signatures.rs", &signatures(&driver, &runtime, &implemented));
    write_output("unsupported.rs", &unsupported(&driver, &runtime, &implemented));
    write_output("lookup.rs", &lookup(&driver, &implemented));
    write_output("versions.rs", &symbol_versions(&runtime, &implemented));
    let tables = ["driver", "runtime"].map(|module| {
        let text = read(&format!("src/abi/{module}.rs")) + &read(&format!("src/abi/{module}_constants.rs"));
        layouts::tables(module, &text)
    });
    write_output("layouts.rs", &tables.concat());
}

/// A function under a name that no table has would never be called.
fn refuse_unknown(driver: &[DriverFunction], runtime: &[RuntimeFunction], implemented: &BTreeMap<String, PathBuf>) {
    let driver = driver.iter().map(|function| &function.symbol);
    let known: BTreeSet<&String> = driver.chain(runtime.iter().map(|function| &function.name)).collect();
    for (name, path) in implemented.iter().filter(|(name, _)| !known.contains(name)) {
        println!("cargo::error={}: {name} is in neither of api/driver.txt and api/runtime.txt", path.display());
    }
}

fn signatures(
    driver: &[DriverFunction],
    runtime: &[RuntimeFunction],
    implemented: &BTreeMap<String, PathBuf>,
) -> String {
    let driver = driver.iter().map(|function| (&function.symbol, Some(&function.signature)));
    let runtime = runtime.iter().map(|function| (&function.name, function.signature.as_ref()));
    let mut text = String::new();
    for (name, signature) in driver.chain(runtime).filter(|(name, _)| implemented.contains_key(*name)) {
        if let Some(signature) = signature {
            let function = signature::function_type(signature);
            writeln!(text, "const _: {function} = {};", path_in_crate(name, implemented)).expect("writing to a string");
        }
    }
    text
}

fn unsupported(
    driver: &[DriverFunction],
    runtime: &[RuntimeFunction],
    implemented: &BTreeMap<String, PathBuf>,
) -> String {
    let driver = driver.iter().map(|function| (&function.symbol, Some(&function.signature), "#[unsafe(no_mangle)]\n"));
    let runtime = runtime.iter().map(|function| (&function.name, function.signature.as_ref(), ""));
    let mut text = String::new();
    for (name, signature, export) in driver.chain(runtime).filter(|(name, ..)| !implemented.contains_key(*name)) {
        let result = signature.map_or("cudaError_t", |signature| signature::result(signature));
        // What does not return an error returns nothing, null or zero; a struct is left as it is.
        let (result, end) = match result {
            "CUresult" | "cudaError_t" | "unsigned int" => ("u32", ""),
            _ => ("usize", "; 0"),
        };
        writeln!(
            text,
            "{export}pub(super) extern \"C\" fn {name}() -> {result} {{ crate::ffi::unsupported(\"{name}\"){end} }}"
        )
        .expect("writing to a string");
    }
    text
}

fn lookup(driver: &[DriverFunction], implemented: &BTreeMap<String, PathBuf>) -> String {
    let mut rows = BTreeSet::new();
    for function in driver {
        let path = path_in_crate(&function.symbol, implemented);
        rows.extend(
            function.lookups.iter().map(|lookup| (&lookup.name, lookup.version, lookup.per_thread, path.clone())),
        );
    }
    let mut text = String::from("pub(super) static DRIVER: &[DriverFunction] = &[\n");
    for (name, version, per_thread, path) in rows {
        writeln!(
            text,
            "    DriverFunction {{ name: \"{name}\", version: {version}, per_thread: {per_thread}, \
             address: Address({path} as *const ()) }},"
        )
        .expect("writing to a string");
    }
    text.push_str("];\n");
    text
}

/// Programs that were linked with the real `libcudart.so.12` ask for `cudaMalloc@libcudart.so.12`. Our one library has
/// the symbols of all versions, each a jump to the function for that version; the newest is what `dlsym` finds. There
/// must be no symbol without a version beside them, because the loader would take that for any version: this is why
/// functions of the runtime have no `no_mangle`.
///
/// The linker gets two scripts: rustc's own, which exports the driver's symbols, and ours, which declares the versions.
/// LLD, rustc's linker on x86-64 Linux, takes both; GNU ld does not.
fn symbol_versions(runtime: &[RuntimeFunction], implemented: &BTreeMap<String, PathBuf>) -> String {
    let nodes: String = [11, 12, 13].map(|major| format!("{} {{}};\n", table::version_node(major))).concat();
    let script = write_output("versions.map", &nodes);
    // Threads of ours run as long as the process, so the library stays as long.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--version-script={}", script.display());
    // Addresses of our functions are those in this library, whatever else the program has loaded.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");

    let jump = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("aarch64") => "b",
        _ => "jmp",
    };
    let (mut assembly, mut operands) = (String::new(), String::new());
    for (index, function) in runtime.iter().enumerate() {
        let symbol = &function.symbol;
        writeln!(operands, "    f{index} = sym {},", path_in_crate(&function.name, implemented)).expect("a string");
        for &major in &function.majors {
            let local = format!("warpgrind.{major}.{symbol}");
            // Rows of one symbol follow each other, the newest last.
            let is_newest = function.name == *symbol && function.majors.last() == Some(&major);
            let at = if is_newest { "@@" } else { "@" };
            let node = table::version_node(major);
            writeln!(
                assembly,
                "    \".globl {local}\", \".type {local}, @function\", \"{local}: {jump} {{f{index}}}\",\n    \
                 \".symver {local}, {symbol}{at}{node}\","
            )
            .expect("a string");
        }
    }
    format!("std::arch::global_asm!(\n    \".text\",\n{assembly}{operands});\n")
}

/// Where a function is: `crate::ffi::driver::memory::cuMemFree_v2` if it is in `src/ffi/driver/memory.rs`.
fn path_in_crate(name: &str, implemented: &BTreeMap<String, PathBuf>) -> String {
    let Some(file) = implemented.get(name) else { return format!("crate::ffi::exports::unsupported::{name}") };
    let file = file.strip_prefix("src").expect("sources are in src").with_extension("");
    let modules =
        file.iter().map(|part| part.to_str().expect("modules have plain names")).filter(|part| *part != "mod");
    format!("crate::{}::{name}", modules.collect::<Vec<_>>().join("::"))
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
}

fn write_output(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write")).join(name);
    fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    path
}
