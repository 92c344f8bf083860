//! `parse-errors`: the messages about a text that is not PTX. What follows the bad part must still be read.

use std::path::Path;

use anyhow::Result;

pub(super) fn run(path: &Path) -> Result<String> {
    let mut bytes = std::fs::read(path)?;
    if let Some(end) = bytes.windows(12).position(|window| window == b"//@ expect:\n") {
        bytes.truncate(end);
    }
    let (text, parsed) = ptx::parse_bytes(&bytes);
    let mut out = String::new();
    for diagnostic in &parsed.diagnostics {
        out += &diagnostic.render("input.ptx", &text, &parsed.module.lines, false);
        out.push('\n');
    }
    let functions: Vec<_> =
        parsed.module.functions.values().map(|function| parsed.module.text(function.name)).collect();
    out += &format!("functions read: {}\n", functions.join(" "));
    Ok(out)
}
