//! A report as JUnit's XML, which every CI server shows as tests.
//!
//! Each finding is a test: errors failed, and warnings passed, unless they count. What was not checked (exit code 87), and what
//! a signal cut short, is a test with an error: neither passed nor failed.

use std::fmt::Write;

use crate::escape::escaped;
use crate::finding::Finding;
use crate::locate;
use crate::report::{Exit, Report, Run};
use crate::signal::signal_name;
use crate::source::Sources;
use crate::text::{Look, render_finding};

/// The report as XML.
pub fn junit(report: &Report, run: &Run, look: &Look, sources: &mut Sources) -> String {
    let look = Look { color: false, ..look.clone() };
    let tools = run.tools.join(", ");
    let command = run.command.join(" ");
    let mut errors = report.incomplete(run);
    errors.extend(report.lost_findings());
    if let Exit::Signal(signal) = run.exit {
        let name = signal_name(signal);
        errors.push(format!("the program was ended by {name}; what it had still to do was not checked"));
    }
    let failures = report.findings.iter().filter(|found| run.counts(&found.finding)).count();
    // The run itself is a test, which passed if nothing is said of it.
    let runs = errors.len().max(1);
    let tests = report.findings.len() + runs;
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{}\" skipped=\"0\"", errors.len());
    let name = quoted(&format!("warpgrind {tools}"));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"{name}\" {counts}>\n"
    );
    for found in &report.findings {
        let finding = &found.finding;
        let class = quoted(&format!("{}.{}", finding.tool, finding.code));
        let name = quoted(&name_of(finding, sources));
        let text = text(&render_finding(found, &look, sources));
        let _ = write!(xml, "<testcase classname=\"{class}\" name=\"{name}\">");
        if run.counts(finding) {
            let message = quoted(&finding.message);
            let _ = write!(xml, "<failure message=\"{message}\" type=\"{class}\">{text}</failure>");
        } else {
            let _ = write!(xml, "<system-out>{text}</system-out>");
        }
        xml += "</testcase>\n";
    }
    let class = quoted(&tools);
    let command = quoted(&command);
    for sentence in &errors {
        let message = quoted(sentence);
        let _ = writeln!(
            xml,
            "<testcase classname=\"{class}\" name=\"{command}\"><error message=\"{message}\" type=\"not-checked\"/></testcase>"
        );
    }
    if errors.is_empty() {
        let _ = writeln!(xml, "<testcase classname=\"{class}\" name=\"{command}\"/>");
    }
    xml + "</testsuite>\n</testsuites>\n"
}

/// What tells a finding from the others in a list of tests.
fn name_of(finding: &Finding, sources: &mut Sources) -> String {
    match locate::of_finding(finding, sources) {
        Some(at) => {
            let file = sources.path_in_project(&at.line.file);
            format!("{} at {file}:{} in {}", finding.message, at.line.line, at.function)
        }
        None => finding.message.clone(),
    }
}

/// A value of an attribute, on one line.
fn quoted(words: &str) -> String {
    text(&escaped(words)).replace('"', "&quot;")
}

/// Text between tags. XML has no way to write some letters at all.
fn text(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for letter in words.chars() {
        match letter {
            '&' => text += "&amp;",
            '<' => text += "&lt;",
            '>' => text += "&gt;",
            '\n' | '\t' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => text.push(letter),
            _ => text.push('\u{fffd}'),
        }
    }
    text
}
