//! `verify`: every complaint of parser and verifier is expected on its line by `//~ ERROR: part of the message` or
//! `//~ WARNING: …`, and every expectation is met. A file without expectations must be clean.

use anyhow::{Result, bail};
use ptx::diagnostic::Severity;

use crate::testfile::TestFile;

pub(super) fn run(file: &TestFile) -> Result<()> {
    let parsed = ptx::parse(&file.input);
    let mut diagnostics = parsed.diagnostics;
    diagnostics.extend(ptx::verify(&parsed.module));
    let mut expected: Vec<(u32, Severity, &str)> = Vec::new();
    for (number, line) in (1..).zip(file.input.lines()) {
        for note in line.split("//~ ").skip(1) {
            let (severity, words) = match note.split_once(':') {
                Some(("ERROR", words)) => (Severity::Error, words),
                Some(("WARNING", words)) => (Severity::Warning, words),
                _ => bail!("line {number}: expected `//~ ERROR: …` or `//~ WARNING: …`"),
            };
            expected.push((number, severity, words.trim()));
        }
    }
    let mut problems = String::new();
    for diagnostic in &diagnostics {
        let line = parsed.module.lines.line(diagnostic.at);
        let met = expected.iter().position(|(number, severity, words)| {
            *number == line && *severity == diagnostic.severity && diagnostic.message.contains(words)
        });
        match met {
            Some(index) => drop(expected.swap_remove(index)),
            None => {
                problems += "unexpected:\n";
                problems += &diagnostic.render("input", &file.input, &parsed.module.lines, false);
                problems.push('\n');
            }
        }
    }
    for (line, severity, words) in expected {
        problems += &format!("line {line}: expected {severity:?} with `{words}`, but there was none\n");
    }
    if !problems.is_empty() {
        bail!("{problems}");
    }
    Ok(())
}
