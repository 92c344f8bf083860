//! A report for the log of a step of GitHub Actions: as text, and then as commands that make annotations of findings.
//!
//! GitHub shows at most ten errors and ten warnings of a step, so no more are asked for. The runner takes every line of the log
//! that looks like a command for one, whoever wrote it; so commands are switched off for the text, by a token that the program
//! cannot know. The rules of escaping are those of `@actions/core`.

use std::fmt::Write;

use crate::escape::escaped;
use crate::finding::{Finding, Severity};
use crate::locate;
use crate::plural::plural;
use crate::report::{Report, Run};
use crate::source::Sources;
use crate::text::{Look, render};

/// More annotations of one kind GitHub does not show.
const MOST_ANNOTATIONS: usize = 10;

/// The report. The token is one that nobody can guess, of letters and digits.
pub fn github(report: &Report, run: &Run, look: &Look, sources: &mut Sources, token: &str) -> String {
    let mut text = format!("::stop-commands::{token}\n{}::{token}::\n", render(report, run, look, sources));
    let mut hidden = 0;
    for (severity, command) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
        let all = || report.findings.iter().map(|found| &found.finding).filter(|finding| finding.severity == severity);
        for finding in all().take(MOST_ANNOTATIONS) {
            text += &annotation(command, finding, sources);
        }
        hidden += all().count().saturating_sub(MOST_ANNOTATIONS);
    }
    for sentence in report.incomplete(run).iter().take(MOST_ANNOTATIONS) {
        let _ = writeln!(text, "::error title=not checked::{}", data(sentence));
    }
    if hidden > 0 {
        let _ = writeln!(text, "::notice::{} in the log of this step", plural(hidden as u64, "more finding"));
    }
    text
}

fn annotation(command: &str, finding: &Finding, sources: &mut Sources) -> String {
    let mut properties = Vec::new();
    if let Some(at) = locate::of_finding(finding, sources) {
        let file = sources.path_in_project(&at.line.file);
        properties.push(format!("file={},line={}", property(&file), at.line.line));
        if at.line.column > 0 {
            properties.push(format!("col={}", at.line.column));
        }
    }
    properties.push(format!("title={}", property(&format!("{}[{}]", finding.tool, finding.code))));
    let facts = finding.notes.iter().map(|note| note.message.as_str()).chain(finding.help.as_deref());
    let words: Vec<String> = std::iter::once(finding.message.as_str()).chain(facts).map(data).collect();
    format!("::{command} {}::{}\n", properties.join(","), words.join("%0A"))
}

/// The text of a command.
fn data(words: &str) -> String {
    escaped(words).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command.
fn property(words: &str) -> String {
    data(words).replace(':', "%3A").replace(',', "%2C")
}
