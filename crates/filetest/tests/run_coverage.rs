//! The kernels below `tests/ptx/run` hold every form that real kernels use.
//!
//! `forms_of_real_kernels.txt` lists the opcodes with their modifiers of 3029 kernels of 635 programs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use filetest::testfile::TestFile;

/// Forms that no engine runs yet: textures and surfaces.
const NOT_YET: &[&str] = &["tex.", "suld.", "sust."];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/run")
}

/// The forms of all instructions below a directory.
fn forms_in_files(directory: PathBuf) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    for path in filetest::files::find_files(&[directory], "ptx").expect("the directory can be read") {
        let file = TestFile::read(&path).expect("the file can be read");
        assert_eq!(file.command, "run", "{} is not run", path.display());
        let module = ptx::parse(&file.input).module;
        for body in module.functions.values().filter_map(|function| function.body.as_ref()) {
            forms.extend(body.insts().map(|(_, inst)| module.forms[inst.form].spelling().to_owned()));
        }
    }
    forms
}

#[test]
fn every_form_of_real_kernels_is_run() {
    let list = std::fs::read_to_string(directory().join("forms_of_real_kernels.txt")).expect("the list is there");
    let present = forms_in_files(directory());
    let missing: Vec<&str> = list
        .split_whitespace()
        .filter(|form| !present.contains(*form) && !NOT_YET.iter().any(|prefix| form.starts_with(prefix)))
        .collect();
    assert!(missing.is_empty(), "{} forms are in no file of tests/ptx/run:\n{}", missing.len(), missing.join("\n"));
}

/// Guards the exception above: it goes as soon as there is a test.
#[test]
fn nothing_is_excused_that_is_run() {
    let present = forms_in_files(directory());
    let excused: Vec<&String> =
        present.iter().filter(|form| NOT_YET.iter().any(|prefix| form.starts_with(prefix))).collect();
    assert!(excused.is_empty(), "take these out of NOT_YET: {excused:?}");
}
