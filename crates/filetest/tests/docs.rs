//! Documents that are made from the code are current; `BLESS=1` rewrites them.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use cpu::Unsupported;
use ptx::analysis::{CallGraph, Cfg};
use ptx::ops::{Op, Row, rows};
use ptx::view::View;

#[test]
fn instruction_table_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/instructions.md");
    let expected = instruction_table();
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &expected).expect("the document can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/instructions.md is not current: BLESS=1 cargo test -p filetest --test docs");
}

fn instruction_table() -> String {
    let mut text = String::from(
        "# PTX instructions\n\n\
         Made from the opcode table (`crates/ptx/src/ops/table.rs`), whose notation `crates/ptx/src/ops/mod.rs` explains.\n\
         *Parsed*: read, printed and verified. *Analysed*: reads, writes, effect and memory accesses are known. \
         *Run*: by the CPU device, as found by lowering the instances in `tests/ptx/effects`; what is not run is refused \
         by name when a kernel that holds it is launched. *Checked*: by tools, when those are there.\n\n\
         | instruction | modifiers | operands | effect | parsed | analysed | run | checked by |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let runs = rows_that_run();
    let mut count = 0;
    for &op in Op::ALL {
        for row in rows().iter().filter(|row| row.op == op) {
            let (modifiers, operands) = row.text;
            writeln!(
                text,
                "| `{op}` | {} | {} | {:?} | yes | yes | {} | |",
                code(modifiers),
                code(operands),
                row.effect,
                match runs.get(&std::ptr::from_ref(row)) {
                    Some((_, 0)) => "yes",
                    Some((0, _)) | None => "no",
                    Some(_) => "in part",
                }
            )
            .expect("writing to a string");
            count += usize::from(runs.get(&std::ptr::from_ref(row)).is_some_and(|(yes, _)| *yes != 0));
        }
    }
    writeln!(text, "\n{} instructions, {} forms, of which {count} run.", Op::ALL.len(), rows().len())
        .expect("writing to a string");
    text
}

/// How many instances of each row the CPU device runs, and how many it refuses. Those that control does not come to are
/// not asked for.
fn rows_that_run() -> HashMap<*const Row, (usize, usize)> {
    let mut runs: HashMap<*const Row, (usize, usize)> = HashMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/effects");
    for path in filetest::files::find_files(&[folder], "ptx").expect("the files are there") {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let module = ptx::parse(&text).module;
        let calls = CallGraph::of(&module);
        for (id, function) in module.functions.iter() {
            let Some(body) = function.body.as_ref().filter(|_| function.is_entry()) else { continue };
            let refused: Vec<u32> = cpu::unsupported(&module, &calls, id, &cpu::Options::default())
                .iter()
                .filter_map(|reason| match reason {
                    Unsupported::Instruction { line, .. }
                    | Unsupported::Unconfined { line, .. }
                    | Unsupported::Undefined { line, .. }
                    | Unsupported::DeviceLaunch { line } => Some(*line),
                    Unsupported::TooLarge { .. } => None,
                })
                .collect();
            let cfg = Cfg::of(&module.forms, function);
            for block in cfg.blocks().filter(|&block| cfg.is_reachable(block)) {
                for (statement, _) in cfg.insts(body, block) {
                    let Some(row) = View::of(&module.forms, body, statement).and_then(|view| view.row()) else {
                        continue;
                    };
                    let counts = runs.entry(std::ptr::from_ref(row)).or_default();
                    let line = module.lines.line(body.position(statement));
                    if refused.contains(&line) { counts.1 += 1 } else { counts.0 += 1 }
                }
            }
        }
    }
    runs
}

/// In a table, `|` ends a cell even within code.
fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{}`", text.replace('|', "\\|")) }
}
