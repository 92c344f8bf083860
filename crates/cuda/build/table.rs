//! Reads the lists of functions (`api/*.txt`) and finds which of them are implemented.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A function of the driver.
pub(crate) struct DriverFunction {
    pub(crate) symbol: String,
    pub(crate) lookups: Vec<Lookup>,
    /// In C, without the name.
    pub(crate) signature: String,
}

/// How `cuGetProcAddress` finds a function.
pub(crate) struct Lookup {
    pub(crate) name: String,
    pub(crate) version: u32,
    /// Whether stream 0 means the calling thread's stream.
    pub(crate) per_thread: bool,
}

/// A function of the runtime, in those versions where it has one signature.
pub(crate) struct RuntimeFunction {
    pub(crate) symbol: String,
    /// Ours that programs of these versions call: the symbol, and for a signature that has changed since, the symbol and
    /// the first version that has it.
    pub(crate) name: String,
    pub(crate) majors: Vec<u32>,
    /// In C, without the name; nothing if no header has one.
    pub(crate) signature: Option<String>,
}

/// The names of version nodes in the real libraries.
pub(crate) fn version_node(major: u32) -> &'static str {
    match major {
        11 => "libcudart.so.11.0",
        12 => "libcudart.so.12",
        13 => "libcudart.so.13",
        _ => panic!("no runtime of version {major} is known"),
    }
}

/// The functions in `api/driver.txt`.
pub(crate) fn driver_functions(text: &str) -> Vec<DriverFunction> {
    rows(text)
        .map(|[symbol, lookups, signature]| DriverFunction {
            symbol: symbol.to_owned(),
            lookups: lookups.split(", ").filter(|part| *part != "-").map(lookup).collect(),
            signature: signature.to_owned(),
        })
        .collect()
}

/// The functions in `api/runtime.txt`.
pub(crate) fn runtime_functions(text: &str) -> Vec<RuntimeFunction> {
    let mut functions: Vec<RuntimeFunction> = rows(text)
        .map(|[symbol, majors, signature]| RuntimeFunction {
            symbol: symbol.to_owned(),
            name: symbol.to_owned(),
            majors: majors.split(' ').map(|major| major.parse().expect("versions are numbers")).collect(),
            signature: (signature != "-").then(|| signature.to_owned()),
        })
        .collect();
    for index in 0..functions.len() - 1 {
        // Rows of one symbol follow each other, the oldest first.
        if functions[index].symbol == functions[index + 1].symbol {
            functions[index].name = format!("{}_{}", functions[index].symbol, functions[index].majors[0]);
        }
    }
    functions
}

/// The functions that files in a directory define, as `fn NAME(` or `fn NAME, NAME(`, with the file.
pub(crate) fn implemented(directory: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let Ok(entries) = fs::read_dir(directory) else { return found };
    for entry in entries {
        let path = entry.expect("a directory can be read to its end").path();
        if path.is_dir() {
            found.append(&mut implemented(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file can be read");
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                let Some((names, _)) = line.split_once("fn ").and_then(|(_, rest)| rest.split_once('(')) else {
                    continue;
                };
                found.extend(
                    names.split(", ").filter(|name| is_api_name(name)).map(|name| (name.to_owned(), path.clone())),
                );
            }
        }
    }
    found
}

/// `cuX`, `cudaX` or `__cudaX`.
fn is_api_name(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let rest = name.strip_prefix("cuda").or_else(|| name.strip_prefix("cu"));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

fn rows(text: &str) -> impl Iterator<Item = [&str; 3]> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let columns: Vec<&str> = line.split(" | ").collect();
        columns.try_into().unwrap_or_else(|_| panic!("three columns expected: {line}"))
    })
}

/// Of `cuMemcpy 7000 ptds`.
fn lookup(text: &str) -> Lookup {
    let mut words = text.split(' ');
    let name = words.next().expect("a lookup has a name").to_owned();
    let version = words.next().and_then(|word| word.parse().ok()).expect("a lookup has a version");
    Lookup { name, version, per_thread: words.next().is_some() }
}
