//! Documents that are made from the code are current; `BLESS=1` rewrites them.

use std::fmt::Write;
use std::path::Path;

use ptx::ops::{Op, rows};

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
         *Run*, *checked*: on the CPU device and by tools, when those are there.\n\n\
         | instruction | modifiers | operands | effect | parsed | analysed | run | checked by |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for &op in Op::ALL {
        for row in rows().iter().filter(|row| row.op == op) {
            let (modifiers, operands) = row.text;
            writeln!(
                text,
                "| `{op}` | {} | {} | {:?} | yes | yes | not yet | |",
                code(modifiers),
                code(operands),
                row.effect
            )
            .expect("writing to a string");
        }
    }
    writeln!(text, "\n{} instructions, {} forms.", Op::ALL.len(), rows().len()).expect("writing to a string");
    text
}

/// In a table, `|` ends a cell even within code.
fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{}`", text.replace('|', "\\|")) }
}
