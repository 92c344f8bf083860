//! Test files: a header, PTX, and what is expected.
//!
//! ```text
//! //@ test: effects
//! .version 8.0
//! …
//! //@ expect:
//! … exactly what must come out …
//! ```
//!
//! The expectation of `verify` stands on the lines themselves: `//~ ERROR: part of the message`.

use std::path::Path;

use anyhow::{Context, Result, bail};

/// A test file, taken apart.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// What to do: the word after `//@ test:`.
    pub command: String,
    /// Everything before the expectation.
    pub input: String,
    /// The expectation, if there is one.
    pub expected: Option<String>,
}

const MARKER: &str = "//@ expect:\n";

impl TestFile {
    /// Reads a test file.
    pub fn read(path: &Path) -> Result<Self> {
        // Files that are meant to be broken need not be UTF-8.
        let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some(command) = text.lines().find_map(|line| line.strip_prefix("//@ test:")) else {
            bail!("{} has no line `//@ test: COMMAND`", path.display());
        };
        let command = command.trim().to_owned();
        let (input, expected) = match text.split_once(MARKER) {
            Some((input, expected)) => (input.to_owned(), Some(expected.to_owned())),
            None => (text, None),
        };
        Ok(Self { command, input, expected })
    }

    /// Compares with the expectation, or rewrites it under `BLESS=1`.
    pub fn compare(&self, path: &Path, actual: &str) -> Result<()> {
        if self.expected.as_deref() == Some(actual) {
            return Ok(());
        }
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(path, format!("{}{MARKER}{actual}", self.input))
                .with_context(|| format!("writing {}", path.display()))?;
            return Ok(());
        }
        let expected = self.expected.as_deref().unwrap_or("");
        bail!("{}\nBLESS=1 rewrites the expectation; review it with git diff", first_difference(expected, actual));
    }
}

/// The lines around the first one that differs.
fn first_difference(expected: &str, actual: &str) -> String {
    let (expected, actual): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    let same = expected.iter().zip(&actual).take_while(|(left, right)| left == right).count();
    let from = same.saturating_sub(3);
    let mut text = format!("differs from line {} of the expectation on:\n", same + 1);
    for line in &actual[from..same] {
        text += &format!("  {line}\n");
    }
    for line in expected.iter().skip(same).take(5) {
        text += &format!("- {line}\n");
    }
    for line in actual.iter().skip(same).take(5) {
        text += &format!("+ {line}\n");
    }
    text
}
