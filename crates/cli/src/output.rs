//! Writing to the terminal.

use std::io::{ErrorKind, Write};

use anyhow::{Context, Result};
use ptx::diagnostic::{Diagnostic, printable};

use crate::input::Source;

/// Writes to standard output. An error is returned, because the reader may have gone.
pub(crate) fn print(text: &str) -> Result<()> {
    std::io::stdout().lock().write_all(text.as_bytes()).context("cannot write to standard output")
}

/// Writes a value as one line of JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let mut line = serde_json::to_string(value).context("cannot write JSON")?;
    line.push('\n');
    print(&line)
}

/// Shows messages about a text on standard error.
pub(crate) fn show<'a>(source: &Source, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) {
    let color = has_colors();
    let mut stderr = std::io::stderr().lock();
    for diagnostic in diagnostics {
        let text = diagnostic.render(&source.name, &source.text, &source.parsed.module.lines, color);
        // Nobody can be told that standard error is gone.
        let _ = writeln!(stderr, "{text}");
    }
}

/// Whether standard error is to have colours: it knows of NO_COLOR, CLICOLOR_FORCE, and terminals without colours.
pub(crate) fn has_colors() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// Says why a command could not do its work.
pub(crate) fn error(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr().lock(), "error: {}", printable(&format!("{error:#}")));
}

/// Says something on standard error. The first part may come from the user, the second is shown as it is.
pub(crate) fn complain(what: &str, more: &str) {
    let _ = writeln!(std::io::stderr().lock(), "warpgrind: {}{more}", printable(what));
}

/// Whether the reader of our output has gone, as in `warpgrind … | head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
