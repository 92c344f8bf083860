//! A trial: what was struck, and what came of it.

use std::fmt::Write;

use report::{Row, demangled};
use serde::Serialize;

use super::verdict::Verdict;

/// A trial, as the tool tells it.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) number: u64,
    pub(crate) launch: u64,
    pub(crate) kernel: String,
    pub(crate) thread: String,
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) ptx_line: u64,
    pub(crate) instruction: String,
    pub(crate) bit: u64,
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) thread_number: u64,
    pub(crate) place: u64,
    pub(crate) outcome: String,
    pub(crate) note: String,
    /// In the protected kernel; empty if it was not tried there.
    pub(crate) protected: String,
    pub(crate) protected_note: String,
    /// What it did to the program, if that was found out.
    pub(crate) program: Option<Verdict>,
}

impl Trial {
    pub(crate) fn of(row: &Row) -> Self {
        Self {
            number: row.number("trial"),
            launch: row.number("launch"),
            kernel: row.text("kernel").to_owned(),
            thread: row.text("thread").to_owned(),
            file: row.text("file").to_owned(),
            line: row.number("line"),
            ptx_line: row.number("ptx_line"),
            instruction: row.text("instruction").to_owned(),
            bit: row.number("bit"),
            before: row.text("before").to_owned(),
            after: row.text("after").to_owned(),
            thread_number: row.number("thread_number"),
            place: row.number("place"),
            outcome: row.text("outcome").to_owned(),
            note: row.text("note").to_owned(),
            protected: row.text("protected").to_owned(),
            protected_note: row.text("protected_note").to_owned(),
            program: None,
        }
    }

    /// Whether it took place.
    pub(crate) fn is_valid(&self) -> bool {
        self.outcome != "invalid" && self.protected != "invalid"
    }

    /// What came of it in the kernel that it struck last.
    pub(crate) fn last_outcome(&self) -> &str {
        if self.protected.is_empty() { &self.outcome } else { &self.protected }
    }

    /// Whether the rest of the program may differ.
    pub(crate) fn is_followed(&self) -> bool {
        self.is_valid() && !matches!(self.last_outcome(), "masked" | "never-read" | "recovered")
    }

    /// For people.
    pub(crate) fn sentences(&self, model: &str, seed: u64, with: Option<&str>) -> String {
        let mut text = format!(
            "trial {} of {model}, seed {seed}: launch {} of {}\n",
            self.number,
            self.launch,
            demangled(&self.kernel)
        );
        let place = match self.file.is_empty() {
            true => String::new(),
            false => format!("{}:{}  ", self.file, self.line),
        };
        let ptx = if self.ptx_line == 0 { String::new() } else { format!("  (line {} of the PTX)", self.ptx_line) };
        let _ = writeln!(text, "  struck   {place}{}{ptx}", self.instruction);
        if !self.thread.is_empty() {
            let _ = writeln!(text, "  in       {}", self.thread);
        }
        if !self.after.is_empty() {
            let _ = writeln!(text, "  bit {:<4} {} became {}", self.bit, self.before, self.after);
        }
        let noted = |outcome: &str, note: &str| {
            let note = if note.is_empty() { String::new() } else { format!(": {note}") };
            format!("{}{note}", in_words(outcome))
        };
        let _ = writeln!(text, "  launch   {}", noted(&self.outcome, &self.note));
        if !self.protected.is_empty() {
            let _ = writeln!(text, "  {:<8} {}", with.unwrap_or("with"), noted(&self.protected, &self.protected_note));
        }
        if let Some(program) = &self.program {
            let _ = writeln!(text, "  program  {}: {}", program.name(), program.sentence());
        }
        text
    }

    /// For programs.
    pub(crate) fn json(&self, model: &str, seed: u64, with: Option<&str>) -> impl Serialize {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        JsonTrial {
            r#type: "trial",
            trial: self.number,
            seed,
            model: model.to_owned(),
            kernel: self.kernel.clone(),
            launch: self.launch,
            thread: self.thread_number,
            place: self.place,
            thread_name: text(&self.thread),
            file: text(&self.file),
            line: (self.line > 0).then_some(self.line),
            ptx_line: (self.ptx_line > 0).then_some(self.ptx_line),
            instruction: text(&self.instruction),
            bit: (!self.after.is_empty()).then_some(self.bit),
            before: text(&self.before),
            after: text(&self.after),
            outcome: self.outcome.clone(),
            note: text(&self.note),
            with: with.map(str::to_owned),
            protected: text(&self.protected),
            protected_note: text(&self.protected_note),
            program: self.program.as_ref().map(|verdict| verdict.name()),
        }
    }
}

/// A trial as JSON: `docs/report-format.md` says what fields mean.
#[derive(Serialize)]
struct JsonTrial {
    r#type: &'static str,
    trial: u64,
    seed: u64,
    model: String,
    kernel: String,
    launch: u64,
    thread: u64,
    place: u64,
    thread_name: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    ptx_line: Option<u64>,
    instruction: Option<String>,
    bit: Option<u64>,
    before: Option<String>,
    after: Option<String>,
    outcome: String,
    note: Option<String>,
    with: Option<String>,
    protected: Option<String>,
    protected_note: Option<String>,
    program: Option<&'static str>,
}

fn in_words(outcome: &str) -> &str {
    match outcome {
        "never-read" => "masked, never read",
        "sdc" => "silent corruption",
        other => other,
    }
}
