//! What is written as JSON is what `docs/report-format.md` says, field by field.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::*;
use report::{AccessOf, Cell, Frame, Line, Row};
use serde_json::Value;

type Tables = BTreeMap<String, BTreeMap<String, String>>;

/// The tables of the document: for each object its fields and their types.
fn documented() -> Tables {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report-format.md");
    let text = std::fs::read_to_string(path).expect("the document is there");
    let mut tables = Tables::new();
    let mut object = String::new();
    let mut is_of_fields = false;
    for line in text.lines() {
        is_of_fields = line == "| field | type | meaning |" || is_of_fields && line.starts_with('|');
        if let Some(title) = line.strip_prefix("## ") {
            object = title.to_owned();
        } else if is_of_fields && let Some(row) = line.strip_prefix("| `") {
            let (field, rest) = row.split_once("` | ").expect("a row has three columns");
            let (kind, _) = rest.split_once(" | ").expect("a row has three columns");
            tables.entry(object.clone()).or_default().insert(field.to_owned(), kind.to_owned());
        }
    }
    tables
}

/// Checks a value against a type of the document, and notes which objects were seen.
fn check(value: &Value, kind: &str, tables: &Tables, seen: &mut BTreeSet<String>) {
    if let Some(kind) = kind.strip_suffix(" or null") {
        if !value.is_null() {
            check(value, kind, tables, seen);
        }
        return;
    }
    if let Some(kind) = kind.strip_prefix("list of ") {
        let list = value.as_array().unwrap_or_else(|| panic!("{value} is no list of {kind}"));
        return list.iter().for_each(|value| check(value, kind, tables, seen));
    }
    if let Some(kind) = kind.strip_prefix("map of ") {
        let map = value.as_object().unwrap_or_else(|| panic!("{value} is no map of {kind}"));
        return map.values().for_each(|value| check(value, kind, tables, seen));
    }
    match kind {
        "string" => assert!(value.is_string(), "{value} is no string"),
        "number" => assert!(value.is_u64() || value.is_i64(), "{value} is no number"),
        "boolean" => assert!(value.is_boolean(), "{value} is no boolean"),
        _ => {
            seen.insert(kind.to_owned());
            let fields = tables.get(kind).unwrap_or_else(|| panic!("`{kind}` is not described"));
            let object = value.as_object().unwrap_or_else(|| panic!("{value} is no {kind}"));
            let written: BTreeSet<&String> = object.keys().collect();
            let described: BTreeSet<&String> = fields.keys().collect();
            // A row has its columns besides.
            assert!(written == described || kind == "row" && written.is_superset(&described), "the fields of `{kind}`");
            for (field, value) in object.iter().filter(|(field, _)| fields.contains_key(*field)) {
                check(value, &fields[field], tables, seen);
            }
        }
    }
}

#[test]
fn the_document_describes_what_is_written() {
    let scratch = Scratch::new();
    let mut host = out_of_bounds();
    (host.place, host.first, host.help) = (None, None, None);
    host.accesses = vec![AccessOf {
        what: "write".into(),
        by: "block (0,0,0) thread (1,0,0)".into(),
        place: None,
        kernel: "_Z1kv".into(),
        launch: 1,
        block: Some([0; 3]),
        thread: Some([1, 0, 0]),
        barriers: Some(2),
    }];
    host.stack = stack([Frame::Code { object: "/opt/app".into(), offset: 5 }, source("main", "main.cu", 3)]);
    let gap = |skipped: bool| {
        let (kernel, reason) = ("_Z1kv".to_owned(), "it is machine code only".to_owned());
        if skipped { Line::Skipped { kernel, reason } } else { Line::Unchecked { kernel, reason } }
    };
    let row = Row::new("loads", "lines").with("line", Cell::Number(7)).with("loads", Cell::Count(5));
    let row = Line::Row(row.with("type", Cell::Text("a row that would be something else".into())));
    let kernel = Row::new("fidelity", "kernels").with("exact", Cell::Number(7)).with("approximate", Cell::Number(2));
    let kernel = Line::Row(kernel);
    scratch.journal(7, &[found(out_of_bounds()), found(host), row, kernel, gap(false), gap(true), coverage(1, 2)]);
    let mut report = scratch.report();
    report.unused_suppressions.push("unused (a.toml:1)".into());
    let text = report::json::lines(&report, &run());
    let tables = documented();
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).expect("each line is JSON");
        check(&value, value["type"].as_str().expect("it says its type"), &tables, &mut seen);
    }
    // `warpgrind prove`, `inject`, `campaign` and `doctor` write these, and tests of their own look at them.
    let others = ["proof", "trial", "faults", "cell", "gpu", "problem"];
    let of_reports = tables.keys().filter(|object| !others.contains(&object.as_str())).cloned();
    assert_eq!(seen, of_reports.collect::<BTreeSet<_>>(), "the test shows every object");
    expect("report.jsonl", &text);
}
