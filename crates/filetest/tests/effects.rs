//! `tests/ptx/effects` has a file for every instruction, with an instance of every row of the opcode table.
//!
//! A file is called after its instruction with `_` for dots and colons: `cp_async_bulk.ptx`. Rows that need another
//! target are in a second file, `add_sm_107a.ptx`; those that the ptxas at hand does not know in
//! `fence_not_in_ptxas.ptx`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use filetest::testfile::TestFile;
use ptx::ops::{Op, Row, rows};
use ptx::view::View;

#[test]
fn every_row_has_an_instance_in_the_file_of_its_instruction() {
    let missing = rows_without_instance(&read_files());
    let list: Vec<String> = missing.iter().map(|&row| describe(&rows()[row])).collect();
    assert!(
        list.is_empty(),
        "{} rows have no instance in tests/ptx/effects; add one and run BLESS=1 cargo test -p filetest:\n{}",
        list.len(),
        list.join("\n")
    );
}

/// Guards the test above: without the files of an instruction, all of its rows must be missed, and only those.
#[test]
fn files_that_are_taken_away_are_missed() {
    let files = read_files();
    for &op in Op::ALL {
        let others: Vec<EffectsFile> = files.iter().filter(|file| file.op != op).cloned().collect();
        let of_op: Vec<usize> = (0..rows().len()).filter(|&row| rows()[row].op == op).collect();
        assert_eq!(rows_without_instance(&others), of_op, "without the files of {op}");
    }
}

/// A file below `tests/ptx/effects`.
#[derive(Clone)]
struct EffectsFile {
    /// The instruction in its name.
    op: Op,
    /// Which rows its instructions are instances of.
    rows: BTreeSet<usize>,
}

/// The rows that have no instance in a file of their own instruction.
fn rows_without_instance(files: &[EffectsFile]) -> Vec<usize> {
    let has_instance = |row: usize| files.iter().any(|file| file.op == rows()[row].op && file.rows.contains(&row));
    (0..rows().len()).filter(|&row| !has_instance(row)).collect()
}

fn read_files() -> Vec<EffectsFile> {
    let mut ops = BTreeMap::new();
    for &op in Op::ALL {
        let other = ops.insert(op.text().replace(['.', ':'], "_"), op);
        assert_eq!(other, None, "the files of two instructions have the same name");
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/effects");
    let paths = filetest::files::find_files(&[directory], "ptx").expect("the directory can be read");
    let mut files = Vec::new();
    for path in paths {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("names of test files are UTF-8");
        let name_of_op = name.strip_suffix("_not_in_ptxas").or(name.split("_sm_").next()).expect("split yields a part");
        let Some(&op) = ops.get(name_of_op) else {
            panic!("{} is named after no instruction of the table", path.display());
        };
        let file = TestFile::read(&path).expect("the file can be read");
        assert_eq!(file.command, "effects", "{} is not a test of effects", path.display());
        files.push(EffectsFile { op, rows: rows_of_instances(&file.input) });
    }
    files
}

/// The rows of all instructions of a module whose operands fit.
fn rows_of_instances(source: &str) -> BTreeSet<usize> {
    let module = ptx::parse(source).module;
    let mut found = BTreeSet::new();
    for body in module.functions.values().filter_map(|function| function.body.as_ref()) {
        for (id, _) in body.insts() {
            let view = View::of(&module.forms, body, id).expect("the statement is an instruction");
            // Where no row fits the operands, the view names one that fits the modifiers: that is no instance.
            if let (Some(row), Some(_)) = (view.row(), view.matched_operands()) {
                found.extend(rows().iter().position(|other| std::ptr::eq(row, other)));
            }
        }
    }
    found
}

fn describe(row: &Row) -> String {
    let (modifiers, operands) = row.text;
    format!("  {} \"{modifiers}\" \"{operands}\" {:?}", row.op, row.effect)
}
