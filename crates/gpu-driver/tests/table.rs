//! The table of functions: against NVIDIA's headers, and as `docs/gpu.md` has it.

use std::fmt::Write;
use std::path::Path;

use gpu_driver::functions::TABLE;

fn root(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn every_function_is_documented_in_its_version() {
    let headers = std::fs::read_to_string(root("crates/cuda/api/driver.txt")).expect("the table of the headers");
    for function in TABLE {
        let wanted = format!(" | {} {} | ", function.name, function.since);
        assert!(headers.contains(&wanted), "no header has {} of version {}", function.name, function.since);
        assert!(!function.why.is_empty());
    }
}

#[test]
fn the_documentation_has_the_table() {
    let path = root("docs/gpu.md");
    let text = std::fs::read_to_string(&path).expect("docs/gpu.md");
    let mut table = String::from("| function | of CUDA | why |\n|---|---|---|\n");
    for function in TABLE {
        let (major, minor) = (function.since / 1000, function.since % 1000 / 10);
        writeln!(table, "| `{}` | {major}.{minor} | {} |", function.name, function.why).expect("writing to a string");
    }
    let (before, rest) = text.split_once("<!-- functions -->\n").expect("the table begins");
    let (_, after) = rest.split_once("<!-- end -->").expect("the table ends");
    let wanted = format!("{before}<!-- functions -->\n{table}<!-- end -->{after}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("docs/gpu.md can be written");
    } else {
        assert!(text == wanted, "docs/gpu.md is not up to date: BLESS=1 cargo test -p gpu-driver --test table");
    }
}
