//! No import cycles between the modules of a crate: a module is understood after those that it imports from, so there
//! must be a first one to read. A parent and its children may import from each other.
//!
//! Imports are the `use` declarations and the paths in code outside of tests. Methods that are called without an import
//! of their type, and what build scripts generate, are not seen.

mod cycles;
mod modules;
mod resolve;
mod tokens;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use cycles::Cycle;
use modules::{Crate, Sources};

/// A cycle that may stay.
struct Accepted {
    /// Directory of the package, and for other crates than `src/lib.rs` their root: `cpu`, `filetest/src/bin/bench.rs`.
    name: &'static str,
    /// Full paths, in the order of the alphabet.
    modules: &'static [&'static str],
    reason: &'static str,
}

const ACCEPTED: &[Accepted] = &[];
const ACCEPTED_MAX: usize = 5;

#[test]
fn crates_have_no_import_cycles() {
    let mut crates = Vec::new();
    let mut packages: Vec<_> = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    packages.retain(|package| package.join("Cargo.toml").is_file());
    // Of all packages at once: a module may be a file of another one, by `#[path]`.
    let mut sources = Sources::new();
    for package in packages {
        let name = package.file_name().expect("a package has a name");
        read_sources(&package, &Path::new("crates").join(name), &mut sources);
    }
    for root in sources.keys().filter(|file| is_root(file)) {
        let within = root.strip_prefix("crates").expect("files are named from the repository's root");
        let package = within.iter().next().expect("a package has a name").to_string_lossy();
        let name = if within.ends_with("src/lib.rs") { package.into_owned() } else { within.display().to_string() };
        crates.push((name, Crate::read(&sources, root).cycles()));
    }
    assert!(crates.len() > 20, "only {} crates were found", crates.len());
    if let Err(message) = judge(&crates, ACCEPTED) {
        panic!("{message}");
    }
}

/// What is wrong with the cycles of these crates, given those that are accepted.
fn judge(crates: &[(String, Vec<Cycle>)], accepted: &[Accepted]) -> Result<(), String> {
    let mut message = String::new();
    let mut say = |line: String| writeln!(message, "{line}").expect("writing to a string");
    let is_accepted = |name: &str, cycle: &Cycle, accepted: &Accepted| {
        accepted.name == name && accepted.modules.iter().eq(&cycle.modules)
    };
    let mut is_refused = false;
    for (name, cycles) in crates {
        for cycle in cycles {
            if !accepted.iter().any(|accepted| is_accepted(name, cycle, accepted)) {
                say(format!("{name}: {cycle}"));
                is_refused = true;
            }
        }
    }
    if is_refused {
        say("Moving what both sides of a cycle need to a module of its own, from which both import, cuts it.".into());
    }
    for entry in accepted {
        let mut cycles = crates.iter().flat_map(|(name, cycles)| cycles.iter().map(move |cycle| (name, cycle)));
        if !cycles.any(|(name, cycle)| is_accepted(name, cycle, entry)) {
            say(format!(
                "{}: {} are accepted as a cycle ({}) and are none: correct or delete the entry of `ACCEPTED`",
                entry.name,
                entry.modules.join(", "),
                entry.reason
            ));
        }
    }
    if accepted.len() > ACCEPTED_MAX {
        say(format!("{} cycles are accepted, at most {ACCEPTED_MAX} may be: cut some", accepted.len()));
    }
    if message.is_empty() { Ok(()) } else { Err(message) }
}

/// Whether cargo makes a crate of the file.
fn is_root(file: &Path) -> bool {
    let within: Vec<_> = file.iter().skip(2).map(|part| part.to_str().unwrap_or_default()).collect();
    matches!(
        within[..],
        ["build.rs"]
            | ["src", "lib.rs" | "main.rs"]
            | ["src", "bin", _]
            | ["src", "bin", _, "main.rs"]
            | ["tests" | "examples" | "benches", _]
            | ["tests" | "examples" | "benches", _, "main.rs"]
    )
}

fn read_sources(directory: &Path, name: &Path, sources: &mut Sources) {
    for path in entries(directory) {
        let name = name.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            read_sources(&path, &name, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            sources.insert(name, text);
        }
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut entries: Vec<_> = entries.map(|entry| entry.expect("the directory can be read").path()).collect();
    entries.sort();
    entries
}

/// The cycles of a crate with this root and modules `a`, `b` and so on.
fn cycles_of(root: &str, children: &[&str]) -> Vec<(String, Vec<Cycle>)> {
    let mut sources = Sources::from([("src/lib.rs".into(), root.into())]);
    for (name, text) in ('a'..).zip(children) {
        sources.insert(format!("src/{name}.rs").into(), (*text).to_owned());
    }
    vec![("made_up".into(), Crate::read(&sources, Path::new("src/lib.rs")).cycles())]
}

#[test]
fn a_cycle_is_refused_with_its_imports() {
    let crates = cycles_of(
        "mod a; mod b; mod c; pub use a::A;",
        &["use crate::b::B; struct A;", "struct B;\nfn f() { super::c::g() }", "use crate::A; fn g() {}"],
    );
    let message = judge(&crates, &[]).expect_err("there is a cycle");
    assert_eq!(
        message,
        "made_up: children of crate import each other in a cycle: a, b, c\n  \
           a -> b\n    src/a.rs:1 imports crate::b::B\n  \
           b -> c\n    src/b.rs:2 imports super::c::g\n  \
           c -> a\n    src/c.rs:1 imports crate::A (held by crate::a)\n\n\
         Moving what both sides of a cycle need to a module of its own, from which both import, cuts it.\n"
    );
}

#[test]
fn imports_in_one_direction_are_accepted() {
    let a = "use crate::b::B; use super::S; fn f() { crate::c::g() } #[cfg(test)] mod tests { use super::*; }";
    let b = "use crate::c; // use crate::a;
        struct B; fn f() { c::g(\"crate::a::f\") } #[cfg(test)] mod tests { use crate::a; }";
    let c = "pub fn g() {} mod d { use super::g; use crate::f; }";
    judge(&cycles_of("mod a; mod b; mod c; use a::f; struct S; fn f() {}", &[a, b, c]), &[])
        .expect("there is no cycle");
}

#[test]
fn cycles_are_found_through_globs_and_below_the_root() {
    let is_refused = |root: &str, children: &[&str]| judge(&cycles_of(root, children), &[]).is_err();
    let root = "mod a; mod b; use a::f;";
    assert!(is_refused(root, &["use crate::b::B; pub fn f() {}", "use super::*; struct B; fn g() { f() }"]));
    assert!(!is_refused(root, &["use crate::b::B; pub fn f() {}", "use super::*; struct B; fn g() { self.f() }"]));
    assert!(is_refused("mod p { mod x { use super::y::Y; struct X; } mod y { struct Y(crate::p::x::X); } }", &[]));
    assert!(is_refused("mod a; mod b;", &["mod x { use crate::b; } pub mod y {}", "use crate::a::y::Y;"]));
}

#[test]
fn accepted_cycles_must_be_there() {
    let (root, a, b) = ("mod a; mod b;", "use crate::b::B;", "use crate::a::A;");
    let entry = |modules| [Accepted { name: "made_up", modules, reason: "for a test" }];
    let exact = entry(&["crate::a", "crate::b"]);
    judge(&cycles_of(root, &[a, b]), &exact).expect("the cycle is accepted");
    judge(&cycles_of(root, &[a, ""]), &exact).expect_err("the cycle is gone");
    judge(&cycles_of(root, &[a, b]), &entry(&["crate::a", "crate::c"])).expect_err("other modules are accepted");
}

#[test]
fn few_cycles_may_be_accepted() {
    let names = ["1", "2", "3", "4", "5", "6"];
    let crates: Vec<_> = names
        .iter()
        .map(|name| {
            (name.to_string(), cycles_of("mod a; mod b;", &["use crate::b::B;", "use crate::a::A;"]).remove(0).1)
        })
        .collect();
    let accepted = names.map(|name| Accepted { name, modules: &["crate::a", "crate::b"], reason: "for a test" });
    judge(&crates[..5], &accepted[..5]).expect("five are accepted");
    judge(&crates, &accepted).expect_err("six are too many");
}
