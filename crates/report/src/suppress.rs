//! Findings that the user does not want to see.
//!
//! A file of suppressions is TOML:
//!
//! ```toml
//! [[suppression]]
//! name = "the vendor's sort reads one element too far"
//! tool = "memcheck"
//! code = "out-of-bounds"
//! kernel = "vendor::sort*"
//! file = "*/vendor/*"
//! ```
//!
//! `tool` and `code` must be there; each of `kernel`, `file`, `function` and `message` narrows it further. In all of them
//! `*` stands for any letters and `?` for one. `kernel` and `function` are compared with the name as the compiler has it
//! and as people read it, with and without parameters; `function` with those of the device at the place and of the host
//! on the stack, and `file` with the files of these.

use std::fmt::Write;

use serde::Deserialize;

use crate::demangle::{demangled, short_name};
use crate::finding::{Finding, SourceLine};
use crate::report::Report;

/// Larger files are not suppressions.
const LARGEST_FILE: usize = 4 << 20;

/// What is not to be reported.
#[derive(Clone, Default, Debug)]
pub struct Suppressions {
    list: Vec<Counted>,
}

/// What is wrong with a file of suppressions.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SuppressionError {
    /// It is not TOML, or has unknown or missing fields.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The line, from 1 on.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// It is too large.
    #[error("{file} has more than {} MiB and is no file of suppressions", LARGEST_FILE >> 20)]
    TooLarge {
        /// The file.
        file: String,
    },
}

#[derive(Clone, Debug)]
struct Counted {
    entry: Entry,
    /// Where it stands: `file:line`.
    at: String,
    /// How many findings it took.
    used: u64,
    /// It is one of ours, of which the user need not know.
    is_ours: bool,
}

#[derive(Clone, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Entries {
    #[serde(default)]
    suppression: Vec<toml::Spanned<Entry>>,
}

#[derive(Clone, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    tool: String,
    code: String,
    kernel: Option<String>,
    file: Option<String>,
    function: Option<String>,
    message: Option<String>,
}

impl Suppressions {
    /// What libraries do that are compiled into programs.
    pub fn of_libraries() -> Self {
        let mut suppressions = Self::default();
        suppressions.add("libraries.toml", include_str!("libraries.toml")).expect("the file is right: a test reads it");
        for counted in &mut suppressions.list {
            counted.is_ours = true;
        }
        suppressions
    }

    /// Adds those of a file.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), SuppressionError> {
        if text.len() > LARGEST_FILE {
            return Err(SuppressionError::TooLarge { file: file.to_owned() });
        }
        let line_of = |offset: usize| 1 + text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count();
        let entries: Entries = toml::from_str(text).map_err(|error| SuppressionError::Syntax {
            file: file.to_owned(),
            line: error.span().map_or(1, |span| line_of(span.start)),
            message: error.message().to_owned(),
        })?;
        for entry in entries.suppression {
            let at = format!("{file}:{}", line_of(entry.span().start));
            self.list.push(Counted { entry: entry.into_inner(), at, used: 0, is_ours: false });
        }
        Ok(())
    }

    /// Takes what is not wanted out of the findings, and says what was not needed. Stacks must have been looked up.
    pub fn apply(&mut self, report: &mut Report) {
        for found in std::mem::take(&mut report.findings) {
            match self.list.iter_mut().find(|counted| counted.entry.matches(&found.finding)) {
                None => report.findings.push(found),
                Some(counted) if counted.is_ours => {}
                Some(counted) => {
                    counted.used += 1;
                    report.suppressed.push(found);
                }
            }
        }
        let unused = self.list.iter().filter(|counted| counted.used == 0 && !counted.is_ours);
        let unused = unused.map(|Counted { entry, at, .. }| match &entry.name {
            Some(name) => format!("{name} ({at})"),
            None => at.clone(),
        });
        report.unused_suppressions = unused.collect();
    }
}

impl Entry {
    fn matches(&self, finding: &Finding) -> bool {
        let place = finding.place.as_ref();
        let device_lines = place.map_or(&[][..], |place| &place.lines);
        let calls = finding.stack.as_ref().map_or(&[][..], |stack| &stack.frames);
        let host_lines = calls.iter().filter_map(|frame| frame.source()?.1);
        let files = || device_lines.iter().chain(host_lines.clone()).map(|line: &SourceLine| line.file.as_str());
        let host_functions = calls.iter().filter_map(|frame| Some(frame.source()?.0));
        let device_functions = device_lines.iter().filter_map(|line| line.function.as_deref());
        let kernel = place.map(|place| place.kernel.as_str());
        let mut functions = device_functions.chain(host_functions).chain(kernel);
        glob(&self.tool, &finding.tool)
            && glob(&self.code, &finding.code)
            && self.message.as_deref().is_none_or(|pattern| glob(pattern, &finding.message))
            && self.kernel.as_deref().is_none_or(|pattern| kernel.is_some_and(|kernel| is_named(pattern, kernel)))
            && self.file.as_deref().is_none_or(|pattern| files().any(|file| glob(pattern, file)))
            && self.function.as_deref().is_none_or(|pattern| functions.any(|function| is_named(pattern, function)))
    }
}

fn is_named(pattern: &str, name: &str) -> bool {
    glob(pattern, name) || glob(pattern, &short_name(name)) || glob(pattern, &demangled(name))
}

/// The entry that would suppress a finding, ready for a file.
pub fn entry_for(finding: &Finding) -> String {
    let mut text = "[[suppression]]\n".to_owned();
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(text, "{name} = {}", quoted(value));
    };
    field("name", &finding.message);
    field("tool", &finding.tool);
    field("code", &finding.code);
    match &finding.place {
        Some(place) => {
            field("kernel", &literal(&short_name(&place.kernel)));
            if let Some(line) = place.lines.first() {
                // The directory differs from machine to machine.
                let name = line.file.rsplit('/').next().unwrap_or_default();
                field("file", &format!("*{}", literal(name)));
            }
        }
        None => {
            field("message", &literal(&finding.message));
            let mut calls = finding.stack.iter().flat_map(|stack| &stack.frames);
            let function = calls.find_map(|frame| Some(frame.source()?.0));
            if let Some(function) = function {
                field("function", &literal(function));
            }
        }
    }
    text
}

/// A pattern for just this text. There is no way to write a star that is one; a letter in its place will do.
fn literal(text: &str) -> String {
    text.replace('*', "?")
}

/// A string of TOML, on one line, that cannot steer a terminal.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if crate::escape::steers(letter) => _ = write!(quoted, "\\U{:08X}", u32::from(letter)),
            _ => quoted.push(letter),
        }
    }
    quoted + "\""
}

/// Whether a text fits a pattern in which `*` stands for any letters and `?` for one.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Where to go on if what follows the last star does not fit: it takes one more letter.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, from));
                at += 1;
            }
            Some(b'?') => {
                // All bytes of the letter.
                from += 1;
                while text.get(from).is_some_and(|byte| byte & 0xc0 == 0x80) {
                    from += 1;
                }
                at += 1;
            }
            Some(byte) if *byte == text[from] => {
                at += 1;
                from += 1;
            }
            _ => match &mut star {
                Some((after, taken)) => {
                    *taken += 1;
                    (at, from) = (*after, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Place, Severity};
    use crate::report::Found;

    #[test]
    fn globs() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("*", "abc"),
            ("a*c", "abc"),
            ("a?c", "aöc"),
            ("*b*", "abc"),
            ("*ab", "aab"),
            ("**", "x"),
        ] {
            assert!(glob(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("a", ""), ("a*c", "abd"), ("?", ""), ("?", "ab"), ("ab", "a")] {
            assert!(!glob(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn mistakes_have_lines() {
        let error = |text: &str| Suppressions::default().add("s.toml", text).expect_err("it is wrong").to_string();
        assert_eq!(error("[[suppression]]\ntool = \"memcheck\"\n"), "s.toml:1: missing field `code`");
        assert!(
            error("[[suppression]]\ntool = \"m\"\ncode = \"c\"\nkernle = \"x\"\n")
                .starts_with("s.toml:4: unknown field `kernle`")
        );
        assert!(error("\n\n[[suppression]\n").starts_with("s.toml:3: "));
        assert!(error(&"[".repeat(100_000)).starts_with("s.toml:1: "));
    }

    fn finding(kernel: &str, message: &str) -> Found {
        let place =
            Place { kernel: kernel.to_owned(), instruction: String::new(), instruction_line: 1, lines: Vec::new() };
        let finding = Finding {
            tool: "memcheck".to_owned(),
            code: "out-of-bounds".to_owned(),
            severity: Severity::Error,
            message: message.to_owned(),
            place: Some(place),
            first: None,
            count: 1,
            notes: Vec::new(),
            accesses: Vec::new(),
            object: None,
            help: None,
            stack: None,
        };
        Found { finding, processes: Vec::new(), seed: None, repeat: None, fingerprint: String::new() }
    }

    #[test]
    fn an_entry_that_was_made_suppresses_its_finding_and_no_other() {
        let names = ["_Z5scaleIfEvPT_i", "k*\"\\\n\u{202e}", "other"];
        for name in names {
            let mut report = Report { findings: names.map(|name| finding(name, "x")).into(), ..Report::default() };
            let mut suppressions = Suppressions::default();
            let text = entry_for(&finding(name, "out-of-bounds write").finding);
            suppressions.add("made", &text).expect("what we write can be read");
            suppressions.add("made", "[[suppression]]\ntool = \"x\"\ncode = \"*\"\nname = \"never\"").expect("right");
            suppressions.apply(&mut report);
            let left: Vec<_> = report
                .findings
                .iter()
                .map(|found| found.finding.place.as_ref().map(|place| place.kernel.as_str()))
                .collect();
            assert_eq!(left.len(), 2);
            assert!(!left.contains(&Some(name)));
            assert_eq!(report.unused_suppressions, ["never (made:1)"]);
        }
    }
}
