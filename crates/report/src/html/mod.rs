//! A report as one page for a browser: findings with their source and pictures, tables, and the source with what tools counted.
//!
//! The page needs nothing but itself: styles and script are in it, and its policy forbids the browser to load or send anything.
//! Everything that comes from the program goes through [`markup`]; the script puts no text of its own into the page.
//!
//! **Ten thousand findings** open at once: the first [`MOST_IN_PAGE`] are part of the page, also where scripts are not allowed, as
//! in reports that CI servers keep. The others are data, of which the script makes elements when the reader comes to them.

mod excerpt;
mod finding;
mod markup;
mod memory;
mod tables;

pub use markup::text;

use std::collections::HashMap;
use std::fmt::Write;

use serde::Serialize;

use crate::explain::Explanation;
use crate::fidelity::Fidelity;
use crate::finding::Severity;
use crate::plural::plural;
use crate::report::{Exit, Found, Report, Run, Verdict};
use crate::signal::signal_name;
use crate::source::Sources;
use crate::table::Row;

/// Findings that are part of the page.
const MOST_IN_PAGE: usize = 200;
/// Findings that are open at first.
const OPEN_AT_FIRST: usize = 3;
/// More kernels that were not checked are counted, and not named.
const MOST_GAPS: usize = 200;

/// The page.
pub fn html(report: &Report, run: &Run, explanations: &[Explanation], sources: &mut Sources) -> String {
    let mut list = "<div id=\"findings\">\n".to_owned();
    let mut words = Vec::new();
    let mut later = Vec::new();
    let mut parts = Parts::default();
    for (index, found) in report.findings.iter().enumerate() {
        let line = finding::line(found, sources);
        let body = finding::body(found, sources);
        let open = if index < OPEN_AT_FIRST { " open" } else { "" };
        let severity = finding::severity(&found.finding);
        words.push(finding::words(found, sources));
        if index < MOST_IN_PAGE {
            let _ = writeln!(
                list,
                "<details id=\"f{index}\" class=\"finding {severity}\"{open}><summary>{line}</summary>{}</details>",
                body.concat()
            );
        } else {
            later.push((severity, line, body.into_iter().map(|part| parts.number(part)).collect::<Vec<_>>()));
        }
    }
    list += "</div>\n<div id=\"end\"></div>\n";
    let tables = fidelity(&report.rows) + &tables::all(&report.rows, sources);
    let explained = explained(report, explanations);
    let body = [head(report, run), filter(report), list, tables, coverage(report, run), explained].concat();
    let data = data("words-of-findings", &words) + &data("later", &(later, parts.list));
    page(&run.tools.join(", "), &run.command.join(" "), &body, &data)
}

/// What the tables of the tool of that name come to.
fn fidelity(rows: &[Row]) -> String {
    let Some(fidelity) = Fidelity::of(rows) else { return String::new() };
    let sentences = fidelity.sentences().map(|sentence| format!("<p>{}</p>\n", text(&sentence)));
    format!("<section>\n<h2>fidelity</h2>\n{}</section>\n", sentences.concat())
}

/// A page of tables alone, of a command that has no findings, with facts about the run.
pub fn html_of_tables(tool: &str, command: &str, facts: &str, rows: &[Row], sources: &mut Sources) -> String {
    let body = format!(
        "<header>\n<h1>warpgrind {}</h1>\n<pre class=\"command\">{}</pre>\n<p class=\"verdict\">{}</p>\n</header>\n{}",
        text(tool),
        text(command),
        text(facts),
        tables::all(rows, sources)
    );
    page(tool, command, &body, "")
}

fn page(tools: &str, command: &str, body: &str, data: &str) -> String {
    // Who could guess it would have to put the hash of the page into the page.
    let nonce = &blake3::Hasher::new().update(body.as_bytes()).update(data.as_bytes()).finalize().to_hex()[..32];
    let script =
        if data.is_empty() { String::new() } else { format!("<script nonce=\"{nonce}\">\n{SCRIPT}</script>\n") };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'nonce-{nonce}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         {body}{data}{script}</body>\n</html>\n",
        text(&format!("warpgrind {tools}: {command}"))
    )
}

/// Parts of markup, each once.
#[derive(Default)]
struct Parts {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Parts {
    fn number(&mut self, part: String) -> usize {
        let number = *self.numbers.entry(part.clone()).or_insert(self.list.len());
        if number == self.list.len() {
            self.list.push(part);
        }
        number
    }
}

/// Data for the script. The end of an element cannot be in it, whatever is.
fn data(id: &str, value: &impl Serialize) -> String {
    let json = crate::json::line(value).replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n")
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What was run, and what came of it.
fn head(report: &Report, run: &Run) -> String {
    let of = |severity| report.findings.iter().filter(|found| found.finding.severity == severity).count() as u64;
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let (class, words) = match report.verdict(run) {
        Verdict::Clean if warnings > 0 => ("clean", "no errors".to_owned()),
        Verdict::Clean => ("clean", "nothing is wrong".to_owned()),
        Verdict::Findings => ("error", plural(errors, "error")),
        Verdict::NotChecked => ("warning", "not all was checked".to_owned()),
        Verdict::EndedBySignal => ("warning", "a signal ended the program".to_owned()),
    };
    let sum = |of: fn(&crate::report::Checked) -> u64| {
        report.processes.iter().fold(0_u64, |sum, checked| sum.saturating_add(of(checked)))
    };
    let mut facts = vec![
        plural(sum(|checked| checked.coverage.kernels), "kernel"),
        plural(sum(|checked| checked.coverage.launches), "launch"),
        plural(report.processes.len() as u64, "process"),
    ];
    if warnings > 0 {
        facts.insert(0, plural(warnings, "warning"));
    }
    for (count, what) in [(report.suppressed.len(), "suppressed"), (report.known.len(), "known")] {
        if count > 0 {
            facts.push(format!("{count} {what}"));
        }
    }
    let proved = sum(|checked| checked.coverage.proved_launches);
    if proved > 0 {
        facts.push(format!("{proved} launches proved before they ran"));
    }
    facts.push(match run.exit {
        Exit::Code(code) => format!("the program returned {code}"),
        Exit::Signal(signal) => format!("{} ended the program", signal_name(signal)),
    });
    let mut head = format!(
        "<header>\n<h1>warpgrind {}</h1>\n<pre class=\"command\">{}</pre>\n<p class=\"verdict\"><b class=\"{class}\">{words}</b> {}</p>\n",
        text(&run.tools.join(", ")),
        text(&run.command.join(" ")),
        facts.join(" · ")
    );
    let mut sentences = report.incomplete(run);
    sentences.extend(report.lost_findings());
    for sentence in sentences {
        let _ = writeln!(head, "<p class=\"gap\"><b class=\"warning\">warning</b> {}</p>", text(&sentence));
    }
    head + "</header>\n"
}

/// The box that narrows the list, which only a script can do.
fn filter(report: &Report) -> String {
    let count = report.findings.len();
    if count == 0 {
        return String::new();
    }
    format!(
        "<form id=\"filter\" hidden><input type=\"search\" id=\"words\" placeholder=\"Filter {} by words\" \
         aria-label=\"Filter findings\" autocomplete=\"off\"> \
         <select id=\"severity\" aria-label=\"Severity\"><option value=\"\">all</option><option>error</option>\
         <option>warning</option></select> <output id=\"shown\"></output></form>\n{}",
        plural(count as u64, "finding"),
        if count > MOST_IN_PAGE {
            format!("<noscript><p>Without scripts, the first {MOST_IN_PAGE} findings are shown.</p></noscript>\n")
        } else {
            String::new()
        }
    )
}

/// The processes, and what was not checked in them.
fn coverage(report: &Report, run: &Run) -> String {
    let mut section = "<section>\n<h2>What was checked</h2>\n".to_owned();
    if !report.processes.is_empty() {
        section += "<div class=\"wide\"><table><tr><th>process<th>program<th>tools<th class=\"n\">kernels<th class=\"n\">launches\
                    <th class=\"n\">proved<th class=\"n\">not checked</tr>\n";
        for checked in &report.processes {
            let coverage = &checked.coverage;
            let _ = writeln!(
                section,
                "<tr><td>{}<td>{}<td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}</tr>",
                checked.process.id,
                text(&checked.process.program),
                text(&checked.process.tools.join(", ")),
                coverage.kernels,
                coverage.launches,
                coverage.proved_launches,
                coverage.unchecked_launches
            );
        }
        section += "</table></div>\n";
    } else if !run.requires_cuda {
        section += "<p>The program did not use CUDA.</p>\n";
    }
    let could_not = report.processes.iter().flat_map(|checked| &checked.unchecked).collect::<Vec<_>>();
    let unwanted = report.processes.iter().flat_map(|checked| &checked.skipped).collect::<Vec<_>>();
    for (title, mut gaps) in [("could not be checked", could_not), ("were not to be checked", unwanted)] {
        gaps.sort();
        gaps.dedup();
        if gaps.is_empty() {
            continue;
        }
        let _ = writeln!(section, "<h3>Kernels that {title}</h3>\n<ul>");
        for gap in gaps.iter().take(MOST_GAPS) {
            let kernel = crate::demangle::short_name(&gap.kernel);
            let kernel = if kernel.is_empty() { String::new() } else { format!("<code>{}</code>: ", text(&kernel)) };
            let _ = writeln!(section, "<li>{kernel}{}", text(&gap.reason));
        }
        if gaps.len() > MOST_GAPS {
            let _ = writeln!(section, "<li>and {} more", gaps.len() - MOST_GAPS);
        }
        section += "</ul>\n";
    }
    section + "</section>\n"
}

/// What the codes of the findings mean.
fn explained(report: &Report, explanations: &[Explanation]) -> String {
    let is_used = |known: &&Explanation| {
        let is_it = |found: &Found| {
            found.finding.code == known.code && known.tool.is_none_or(|tool| tool == found.finding.tool)
        };
        report.findings.iter().any(is_it)
    };
    let mut section = String::new();
    for known in explanations.iter().filter(is_used) {
        if section.is_empty() {
            section = "<section>\n<h2>What the codes mean</h2>\n".to_owned();
        }
        let _ = writeln!(
            section,
            "<details class=\"code\" id=\"code-{}\"><summary><code>{}</code> {}</summary><pre>{}</pre></details>",
            text(known.code),
            text(&known.name()),
            text(known.title),
            markup::lines(known.text.trim())
        );
    }
    if section.is_empty() { section } else { section + "</section>\n" }
}
