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

/// The tolerance of a buffer is no larger than what the manual allows the approximation that fills it.
#[test]
fn tolerances_are_those_of_the_manual() {
    for path in filetest::files::find_files(&[directory()], "ptx").expect("the directory can be read") {
        let file = TestFile::read(&path).expect("the file can be read");
        let scenario = filetest::scenario::Scenario::parse(&file.input).expect("the launches can be read");
        let module = ptx::parse(&file.input).module;
        for launch in &scenario.launches {
            let kernel = &module.functions[module.function(&launch.kernel).expect("the kernel is there")];
            let body = kernel.body.as_ref().expect("the kernel has a body");
            let bounds: Vec<_> = body
                .insts()
                .filter_map(|(_, inst)| interp::arith::approx::approximation_bound(&module.forms[inst.form]))
                .collect();
            let buffers = launch.args.iter().filter_map(|arg| match arg {
                filetest::scenario::Argument::Buffer(index) => Some(&scenario.buffers[*index]),
                filetest::scenario::Argument::Value(_) => None,
            });
            for buffer in buffers.filter(|buffer| !buffer.is_input) {
                let tolerance = buffer.tolerance;
                let is_exact = tolerance.ulps == 0 && tolerance.absolute == 0.0;
                assert_eq!(is_exact, bounds.is_empty(), "{}: {}", path.display(), buffer.name);
                let allowed = bounds
                    .iter()
                    .any(|bound| tolerance.ulps as f64 <= bound.ulps && tolerance.absolute <= bound.absolute);
                assert!(is_exact || allowed, "{}: {} may be off too far", path.display(), buffer.name);
            }
        }
    }
}
