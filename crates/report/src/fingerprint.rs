//! What a finding is recognised by in other runs, by baselines and by services that keep findings.
//!
//! It is a hash of what stays when the program is edited elsewhere or built on another machine: the tool, the code, the message,
//! the kernel, and the *texts* of the source lines. Numbers of lines, directories, registers, threads and addresses are no part
//! of it. Findings that are alike in all of this, such as two reads in one line, are numbered in the order of the report.

use std::collections::HashMap;

use crate::demangle::short_name;
use crate::finding::{Finding, Frame, SourceLine};
use crate::report::Report;
use crate::source::Sources;

/// Calls of the host beyond these do not count: who calls a program's `main` differs from machine to machine.
const MOST_CALLS: usize = 8;

impl Report {
    /// Gives each finding its fingerprint. Stacks must have been looked up, and nothing left out of the report yet.
    pub fn identify(&mut self, sources: &mut Sources) {
        let mut alike: HashMap<String, u64> = HashMap::new();
        for found in &mut self.findings {
            let hash = hash(&found.finding, sources);
            let number = alike.entry(hash.clone()).or_default();
            *number += 1;
            found.fingerprint = format!("{hash}:{number}");
        }
    }
}

fn hash(finding: &Finding, sources: &mut Sources) -> String {
    let mut parts = Parts(blake3::Hasher::new());
    parts.add(&finding.tool);
    parts.add(&finding.code);
    parts.add(&finding.message);
    match (&finding.place, &finding.stack) {
        (Some(place), _) => {
            parts.add(&short_name(&place.kernel));
            for line in &place.lines {
                parts.add_line(line, sources);
            }
            if place.lines.is_empty() {
                parts.add(opcode(&place.instruction));
            }
        }
        (None, Some(stack)) => {
            let own = stack.frames.iter().filter(|frame| frame.package().is_none());
            for (function, line) in own.filter_map(Frame::source).take(MOST_CALLS) {
                parts.add(function);
                if let Some(line) = line {
                    parts.add_line(line, sources);
                }
            }
        }
        (None, None) => {}
    }
    parts.0.finalize().to_hex()[..32].to_owned()
}

/// The instruction without its registers, which are numbered anew when anything before it changes.
fn opcode(instruction: &str) -> &str {
    let is_guard = |word: &&str| word.starts_with('@');
    instruction.split_whitespace().find(|word| !is_guard(word)).unwrap_or_default()
}

/// What is hashed, part by part.
struct Parts(blake3::Hasher);

impl Parts {
    fn add(&mut self, part: &str) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part.as_bytes());
    }

    /// A line of a file by its text, without what indents it. The directory differs from machine to machine.
    fn add_line(&mut self, line: &SourceLine, sources: &mut Sources) {
        self.add(line.file.rsplit('/').next().unwrap_or_default());
        self.add(&line.function.as_deref().map(short_name).unwrap_or_default());
        let text = sources.line(&line.file, line.line).unwrap_or_default();
        self.add(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}
