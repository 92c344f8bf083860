//! `warpgrind ptx verify`.

use anyhow::Result;
use ptx::diagnostic::{Diagnostic, Severity};
use serde::Serialize;

use super::Common;
use crate::input::{self, Source};
use crate::{CommandStatus, output};

/// A message as JSON.
#[derive(Serialize)]
struct Message<'a> {
    file: &'a str,
    line: Option<u32>,
    column: Option<u32>,
    severity: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

pub(super) fn run(common: &Common) -> Result<CommandStatus> {
    let (mut files, mut errors, mut warnings) = (0, 0, 0);
    for path in input::find(&common.path)? {
        let mut source = input::read(&path)?;
        let mut diagnostics = std::mem::take(&mut source.parsed.diagnostics);
        diagnostics.extend(ptx::verify(&source.parsed.module));
        files += 1;
        for diagnostic in &diagnostics {
            match diagnostic.severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
            }
            if common.json {
                output::print_json(&message(&source, diagnostic))?;
            }
        }
        if !common.json {
            output::show(&source, &diagnostics);
        }
    }
    if !common.json {
        output::print(&format!(
            "{}, {}, {}\n",
            counted(files, "file"),
            counted(errors, "error"),
            counted(warnings, "warning")
        ))?;
    }
    Ok(if errors == 0 { CommandStatus::Success } else { CommandStatus::Failure })
}

fn message<'a>(source: &'a Source, diagnostic: &'a Diagnostic) -> Message<'a> {
    let place = if diagnostic.at == ptx::diagnostic::Position::NONE {
        None
    } else {
        let start = diagnostic.span(&source.text).start as u32;
        source.parsed.module.lines.locate(ptx::diagnostic::Position(start))
    };
    Message {
        file: &source.name,
        line: place.map(|(line, _)| line),
        column: place.map(|(_, column)| column),
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
