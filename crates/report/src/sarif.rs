//! A report as SARIF 2.1.0, the format that GitHub, GitLab, Azure and editors read findings from.
//!
//! GitHub refuses files that exceed its limits, and results without a line of a file
//! (<https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning>).
//! So there is one run (of 20 that there may be), with at most 25,000 results, each with at most 10 locations (of 1,000), and
//! rules with at most 10 tags (of 20). What has no line is located at the program.

use serde_json::{Value, json};

use crate::demangle::demangled;
use crate::escape::escaped;
use crate::explain::Explanation;
use crate::finding::{Finding, Severity, SourceLine};
use crate::json;
use crate::locate;
use crate::report::{Exit, Found, Report, Run, Verdict};
use crate::source::{Sources, expression_at};

/// What our fingerprints are called in `partialFingerprints`. The number grows when they are made in another way.
pub(crate) const FINGERPRINT: &str = "warpgrind/v1";
/// More results are left out, and counted.
pub(crate) const MOST_RESULTS: usize = 25_000;
/// More places of a result are left out.
const MOST_LOCATIONS: usize = 10;

/// The report as one line of JSON. Rules are explained by `explanations`, and paths are those from the top of the project.
pub fn sarif(report: &Report, run: &Run, explanations: &[Explanation], sources: &mut Sources) -> String {
    let mut rules = Rules { explanations, list: Vec::new() };
    let new = report.findings.iter().map(|found| (found, State::New));
    let known = report.known.iter().map(|found| (found, State::Known));
    let suppressed = report.suppressed.iter().map(|found| (found, State::Suppressed));
    // A report that was not compared with a baseline says nothing of what is new.
    let has_baseline = !report.known.is_empty();
    let all = new.chain(known).chain(suppressed);
    let count = report.findings.len() + report.known.len() + report.suppressed.len();
    let results: Vec<Value> = all
        .take(MOST_RESULTS)
        .map(|(found, state)| {
            let mut result = result(found, run, &mut rules, sources);
            match state {
                State::New if has_baseline => result["baselineState"] = json!("new"),
                State::New => {}
                State::Known => result["baselineState"] = json!("unchanged"),
                State::Suppressed => result["suppressions"] = json!([{ "kind": "external" }]),
            }
            result
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Warpgrind",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.list.iter().map(|(_, rule)| rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation(report, run, count)],
            "results": results,
        }],
    });
    json::line(&log)
}

enum State {
    New,
    Known,
    Suppressed,
}

/// How the run went: what was not checked is no result.
fn invocation(report: &Report, run: &Run, results: usize) -> Value {
    let mut sentences = report.incomplete(run);
    sentences.extend(report.lost_findings());
    if results > MOST_RESULTS {
        sentences.push(format!("{} more findings than GitHub takes are left out", results - MOST_RESULTS));
    }
    let notifications: Vec<Value> = sentences
        .iter()
        .map(|sentence| json!({ "level": "error", "message": { "text": escaped(sentence) } }))
        .collect();
    let mut invocation = json!({
        "executionSuccessful": matches!(report.verdict(run), Verdict::Clean | Verdict::Findings),
        "arguments": run.command.iter().map(|word| escaped(word)).collect::<Vec<_>>(),
        "toolExecutionNotifications": notifications,
    });
    match run.exit {
        Exit::Code(code) => invocation["exitCode"] = json!(code),
        Exit::Signal(signal) => invocation["exitSignalNumber"] = json!(signal),
    }
    invocation
}

/// The codes of the findings, each once.
struct Rules<'a> {
    explanations: &'a [Explanation],
    list: Vec<(String, Value)>,
}

impl Rules<'_> {
    fn index(&mut self, finding: &Finding) -> (String, usize) {
        let id = format!("{}::{}", escaped(&finding.tool), escaped(&finding.code));
        let known = self.list.iter().position(|(known, _)| *known == id);
        let index = known.unwrap_or_else(|| {
            self.list.push((id.clone(), self.rule(&id, finding)));
            self.list.len() - 1
        });
        (id, index)
    }

    fn rule(&self, id: &str, finding: &Finding) -> Value {
        let is_meant =
            |known: &&Explanation| known.code == finding.code && known.tool.is_none_or(|tool| tool == finding.tool);
        let known = self.explanations.iter().find(is_meant);
        let title = known.map_or_else(|| escaped(&finding.code), |known| known.title.to_owned());
        let level = level(finding.severity);
        let mut rule = json!({
            "id": id,
            "shortDescription": { "text": title },
            "fullDescription": { "text": title },
            "defaultConfiguration": { "level": level },
            "properties": {
                "tags": ["cuda", escaped(&finding.tool)],
                // It happened: nothing is guessed.
                "precision": "very-high",
                "problem.severity": level,
            },
        });
        if let Some(known) = known {
            rule["help"] = json!({ "text": known.text.trim(), "markdown": known.text.trim() });
        }
        rule
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn result(found: &Found, run: &Run, rules: &mut Rules<'_>, sources: &mut Sources) -> Value {
    let finding = &found.finding;
    let (id, index) = rules.index(finding);
    let mut location = match locate::of_finding(finding, sources) {
        Some(place) => physical(&place.line, sources),
        None => of_program(run),
    };
    if let Some(place) = &finding.place {
        let name = escaped(&demangled(&place.kernel));
        location["logicalLocations"] = json!([{ "fullyQualifiedName": name, "kind": "function" }]);
    }
    let mut related = Related { list: Vec::new() };
    related.add_all(finding, sources);
    let mut result = json!({
        "ruleId": id,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": message(finding) },
        "locations": [location],
        "relatedLocations": related.list,
        "occurrenceCount": finding.count.max(1),
        "partialFingerprints": { FINGERPRINT: found.fingerprint },
    });
    if let Some(flow) = flow(finding, sources) {
        result["codeFlows"] = json!([flow]);
    }
    result
}

/// What happened, and all facts.
fn message(finding: &Finding) -> String {
    let facts = finding.notes.iter().map(|note| escaped(&note.message));
    let help = finding.help.iter().map(|help| escaped(help));
    let sentences: Vec<String> = std::iter::once(escaped(&finding.message)).chain(facts).chain(help).collect();
    sentences.join(".\n") + "."
}

/// Lines that belong to a finding, with what they are.
struct Related {
    list: Vec<Value>,
}

impl Related {
    fn add(&mut self, what: &str, line: &SourceLine, sources: &mut Sources) {
        // One is the place of the finding itself.
        if self.list.len() + 1 >= MOST_LOCATIONS {
            return;
        }
        let mut location = physical(line, sources);
        location["id"] = json!(self.list.len() + 1);
        location["message"] = json!({ "text": escaped(what) });
        self.list.push(location);
    }

    fn add_all(&mut self, finding: &Finding, sources: &mut Sources) {
        if let [other, _] = &finding.accesses[..]
            && let Some(line) = other.place.as_ref().and_then(|place| locate::of_place(place, sources))
        {
            self.add(&format!("the other access: {} by {}", other.what, other.by), line, sources);
        }
        for note in &finding.notes {
            let calls = note.stack.as_ref().map_or(&[][..], |stack| &stack.frames);
            if let Some(line) = locate::line_of_calls(calls) {
                self.add(&note.message, line, sources);
            }
        }
        if let Some(place) = &finding.place {
            let calls = finding.stack.as_ref().map_or(&[][..], |stack| &stack.frames);
            if let Some(line) = locate::line_of_calls(calls) {
                self.add("launched here", line, sources);
            }
            let main = locate::index_in_place(place, sources);
            for line in place.lines.iter().skip(main + 1) {
                self.add("inlined here", line, sources);
            }
        }
    }
}

/// The two accesses of a race, each in a thread of its own.
fn flow(finding: &Finding, sources: &mut Sources) -> Option<Value> {
    let mut threads: Vec<Value> = Vec::new();
    for access in &finding.accesses {
        // Ids are different: a thread may be of two launches, or race with what it asked for itself.
        let mut id = escaped(&access.by);
        if threads.iter().any(|thread| thread["id"] == id) {
            id = format!("{id} of launch {}, the other access", access.launch);
        }
        let line = locate::of_place(access.place.as_ref()?, sources)?;
        let mut location = physical(line, sources);
        location["message"] = json!({ "text": escaped(&format!("{} by {}", access.what, access.by)) });
        threads.push(json!({ "id": id, "locations": [{ "location": location }] }));
    }
    (threads.len() == 2).then(|| json!({ "threadFlows": threads }))
}

/// A line of a file.
fn physical(line: &SourceLine, sources: &mut Sources) -> Value {
    let mut region = json!({ "startLine": line.line.max(1) });
    if line.column > 0
        && let Some(text) = sources.line(&line.file, line.line)
    {
        // The compiler counts bytes, and SARIF letters.
        let span = expression_at(text, line.column);
        let letters = |to: usize| text[..to].chars().count() + 1;
        region["startColumn"] = json!(letters(span.start));
        region["endColumn"] = json!(letters(span.end));
        region["snippet"] = json!({ "text": text });
    }
    json!({ "physicalLocation": { "artifactLocation": artifact(&sources.path_in_project(&line.file)), "region": region } })
}

/// The program, for what is at no line.
fn of_program(run: &Run) -> Value {
    let program = run.command.first().map_or("program", String::as_str);
    let program = program.strip_prefix("./").unwrap_or(program);
    json!({ "physicalLocation": { "artifactLocation": artifact(program), "region": { "startLine": 1 } } })
}

/// A path as a URI: below the project if it is not absolute.
fn artifact(path: &str) -> Value {
    let mut uri = String::new();
    for &byte in path.as_bytes().iter().take(4096) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    if path.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else {
        json!({ "uri": uri, "uriBaseId": "%SRCROOT%" })
    }
}
