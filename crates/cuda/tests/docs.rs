//! The document about functions is current; `BLESS=1` rewrites it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[allow(dead_code, reason = "build.rs uses the rest")]
#[path = "../build/table.rs"]
mod table;

#[test]
fn function_table_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cuda-api.md");
    let expected = function_table();
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &expected).expect("the document can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/cuda-api.md is not current: BLESS=1 cargo test -p cuda --test docs");
}

fn function_table() -> String {
    let driver = table::driver_functions(include_str!("../api/driver.txt"));
    let runtime = table::runtime_functions(include_str!("../api/runtime.txt"));
    let implemented = table::implemented(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ffi"));
    let state = |name: &String, implemented: &BTreeMap<String, PathBuf>| {
        if implemented.contains_key(name) { "yes" } else { "no" }
    };
    let done = driver.iter().filter(|function| implemented.contains_key(&function.symbol)).count();
    let mut text = format!(
        "# CUDA functions\n\n\
         Made from the lists of functions (`crates/cuda/api`) and the sources in `crates/cuda/src/ffi`.\n\
         A function that is not there says so once and returns \"not supported\".\n\n\
         ## Driver\n\n\
         {done} of {} are there.\n\n\
         | function | found by `cuGetProcAddress` as | there |\n\
         |---|---|---|\n",
        driver.len()
    );
    for function in &driver {
        let lookups: Vec<String> = function.lookups.iter().map(lookup).collect();
        writeln!(
            text,
            "| `{}` | {} | {} |",
            function.symbol,
            lookups.join(", "),
            state(&function.symbol, &implemented)
        )
        .expect("writing to a string");
    }
    let done = runtime.iter().filter(|function| implemented.contains_key(&function.name)).count();
    write!(
        text,
        "\n## Runtime\n\n\
         {done} of {} are there; those whose signature differs between versions are counted for each.\n\n\
         | function | in CUDA | there |\n\
         |---|---|---|\n",
        runtime.len()
    )
    .expect("writing to a string");
    for function in &runtime {
        let majors: Vec<String> = function.majors.iter().map(u32::to_string).collect();
        writeln!(text, "| `{}` | {} | {} |", function.symbol, majors.join(", "), state(&function.name, &implemented))
            .expect("writing to a string");
    }
    text
}

/// `cuMemcpy` 7.0, stream of the thread.
fn lookup(lookup: &table::Lookup) -> String {
    let flavour = if lookup.per_thread { ", stream of the thread" } else { "" };
    format!("`{}` {}.{}{flavour}", lookup.name, lookup.version / 1000, lookup.version % 1000 / 10)
}
