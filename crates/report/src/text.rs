//! A report as text, in rustc's look.

use std::fmt::Write;

use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use crate::alike;
use crate::demangle::short_name;
use crate::escape::{blotted, escaped};
use crate::fidelity::Fidelity;
use crate::finding::{AccessOf, Finding, Frame, Occurrence, Place, Severity, SourceLine, Stack, thread_name};
use crate::locate;
use crate::plural::plural;
use crate::report::{Exit, Found, Gap, Report, Run};
use crate::signal::signal_name;
use crate::source::{Sources, expression_at};
use crate::suppress::entry_for;
use crate::table;

/// The column at which the code of a finding ends.
const WIDTH: usize = 80;
/// More kernels that were not checked are not named.
const MOST_GAPS: usize = 10;

/// How a report is to look.
#[derive(Clone, Debug)]
pub struct Look {
    /// With colours.
    pub color: bool,
    /// More findings are counted, and not shown.
    pub most_findings: usize,
    /// More calls of a stack are not shown.
    pub most_callers: usize,
    /// Each finding is followed by the entry that would suppress it.
    pub with_suppressions: bool,
}

/// The whole report, as it is shown at the end of a run.
pub fn render(report: &Report, run: &Run, look: &Look, sources: &mut Sources) -> String {
    let mut text = String::new();
    let groups = alike::folded(&report.findings);
    for (found, others) in groups.iter().take(look.most_findings) {
        text += &render_folded(found, others, look, sources);
        if look.with_suppressions {
            text.push('\n');
            text += &entry_for(&found.finding);
        }
        text.push('\n');
    }
    let hidden: usize = groups.iter().skip(look.most_findings).map(|(_, others)| 1 + others.len()).sum();
    if hidden > 0 {
        let note = format!("{}; --print-limit says how many are shown", plural(hidden as u64, "more finding"));
        text += &paragraph(Level::NOTE, &note, &[], look);
    }
    if let Some(note) = report.lost_findings() {
        text += &paragraph(Level::NOTE, &note, &[], look);
    }
    text += &table::render(&report.rows, sources);
    if let Some(fidelity) = Fidelity::of(&report.rows) {
        for sentence in fidelity.sentences() {
            text += &format!("fidelity: {sentence}\n");
        }
        text.push('\n');
    }
    text += &gaps(report, look);
    let unused: Vec<String> = report.unused_suppressions.iter().map(|name| escaped(name)).collect();
    if !unused.is_empty() {
        text += &paragraph(Level::NOTE, "suppressions that nothing fitted:", &unused, look);
    }
    for sentence in report.incomplete(run) {
        text += &paragraph(Level::WARNING, &sentence, &[], look);
    }
    if let Exit::Signal(signal) = run.exit {
        let name = signal_name(signal);
        let note = format!("the program was ended by {name}; what it had still to do was not checked");
        text += &paragraph(Level::NOTE, &note, &[], look);
    }
    text += &last_line(report, run);
    text
}

/// One finding.
pub fn render_finding(found: &Found, look: &Look, sources: &mut Sources) -> String {
    render_folded(found, &[], look, sources)
}

/// One finding, and a note of others that look the same.
fn render_folded(found: &Found, others: &[&Found], look: &Look, sources: &mut Sources) -> String {
    let finding = &found.finding;
    let (level, name) = match finding.severity {
        Severity::Error => (Level::ERROR, "error: "),
        Severity::Warning => (Level::WARNING, "warning: "),
    };
    let title = title(finding, name.len());
    let Part { mut elements, mut facts, behind_place, callers } = match (&finding.place, &finding.stack) {
        (Some(place), _) => on_the_device(finding, place, sources),
        (None, Some(stack)) => on_the_host(finding, stack, look, sources),
        (None, None) => Part { facts: times(finding), ..Part::default() },
    };
    let alone = finding.notes.iter().filter(|note| calls(note.stack.as_ref()).is_empty());
    facts.extend(alone.map(|note| escaped(&note.message)));
    elements.extend(facts.into_iter().map(|fact| Level::NOTE.no_name().message(fact).into()));
    let is_title_alone = elements.is_empty();
    let mut groups = vec![Group::with_title(level.primary_title(title)).elements(elements)];
    let mut push = |level: Level<'static>, text: String| groups.push(Group::with_title(level.secondary_title(text)));
    if let Some(callers) = callers {
        push(Level::NOTE, callers);
    }
    if let [other, _] = &finding.accesses[..] {
        groups.push(other_access(other, sources));
    }
    let mut push = |level: Level<'static>, text: String| groups.push(Group::with_title(level.secondary_title(text)));
    for fact in &finding.notes {
        let calls = calls(fact.stack.as_ref());
        if !calls.is_empty() {
            push(Level::NOTE, note(&escaped(&fact.message), calls, look, sources));
        }
    }
    if finding.place.is_some() {
        let calls = calls(finding.stack.as_ref());
        if !calls.is_empty() {
            push(Level::NOTE, note("launched here", calls, look, sources));
        }
    }
    if !others.is_empty() {
        push(Level::NOTE, alike::sentence(finding, others));
    }
    if let Some(help) = &finding.help {
        push(Level::HELP, escaped(help));
    }
    if let Some(repeat) = &found.repeat {
        push(Level::NOTE, format!("repeat with {}", escaped(repeat)));
    }
    // A title alone would be followed by an empty frame.
    let apart = if is_title_alone { 1 } else { groups.len() };
    let parts = [&groups[..apart], &groups[apart..]];
    let parts: Vec<String> =
        parts.iter().filter(|part| !part.is_empty()).map(|part| renderer(look).render(part)).collect();
    let mut text = parts.join("\n");
    // The second line is the place, if there is one: titles have one line.
    let at = text.match_indices('\n').nth(1).map_or(text.len(), |(at, _)| at);
    text.insert_str(at, &behind_place);
    text + "\n"
}

/// `a write`, `an atomic operation`.
pub fn with_article(noun: &str) -> String {
    if noun.starts_with('a') { format!("an {noun}") } else { format!("a {noun}") }
}

/// The access that came before the one that the finding is at.
fn other_access(access: &AccessOf, sources: &mut Sources) -> Group<'static> {
    let what = format!("the other access is {} by {}", with_article(&escaped(&access.what)), escaped(&access.by));
    let title = |text: String| Group::with_title(Level::NOTE.secondary_title(text));
    let Some(place) = &access.place else {
        // Copies of streams are in no kernel.
        let kernel = escaped(&short_name(&access.kernel));
        return title(if kernel.is_empty() { what } else { format!("{what}, in {kernel}") });
    };
    match locate::of_place(place, sources) {
        Some(line) => match snippet(line, None, sources) {
            Some(snippet) => title(what).element(snippet),
            None => title(what).element(origin(line, sources)),
        },
        None => title(format!("{what}, at PTX line {}", place.instruction_line)),
    }
}

/// The first part of a finding: its place, and what belongs to it.
#[derive(Default)]
struct Part {
    elements: Vec<Element<'static>>,
    facts: Vec<String>,
    /// What follows the place on its line.
    behind_place: String,
    callers: Option<String>,
}

fn on_the_device(finding: &Finding, place: &Place, sources: &mut Sources) -> Part {
    let main = locate::index_in_place(place, sources);
    let mut part = Part { behind_place: in_kernel(place, main), ..Part::default() };
    let happened = finding.first.as_ref().map(|first| happened(first, finding.count));
    match place.lines.get(main) {
        Some(line) => match snippet(line, happened.as_deref(), sources) {
            Some(snippet) => part.elements.push(snippet.into()),
            None => {
                part.elements.push(origin(line, sources).into());
                part.facts.extend(happened);
            }
        },
        None if place.instruction_line == 0 => {
            // Nothing is known but the kernel, which no flag of the compiler changes.
            part.elements.push(Origin::path(format!("kernel {}", escaped(&short_name(&place.kernel)))).into());
            part.behind_place.clear();
            part.facts.extend(happened);
        }
        None => {
            part.elements.push(Origin::path(format!("PTX line {}", place.instruction_line)).into());
            part.facts.extend(happened);
            part.facts.push("compile with -lineinfo to see the line of the source".to_owned());
        }
    }
    let function = |line: &SourceLine| line.function.as_deref().map(|function| escaped(&short_name(function)));
    // From the call that is shown to the innermost one.
    part.facts.extend(place.lines[..main.min(place.lines.len())].iter().rev().map(|line| {
        format!("which is {} at {}", function(line).unwrap_or_else(|| "code".to_owned()), file_name(line, sources))
    }));
    part.facts.extend(place.lines.iter().skip(main + 1).map(|line| {
        let function = function(line).map(|function| format!(" in {function}"));
        format!("inlined at {}{}", position(line, sources), function.unwrap_or_default())
    }));
    part
}

/// A line of a library: its directory says nothing.
fn file_name(line: &SourceLine, sources: &Sources) -> String {
    let shown = position(line, sources);
    shown.rsplit('/').next().unwrap_or_default().to_owned()
}

fn on_the_host(finding: &Finding, stack: &Stack, look: &Look, sources: &mut Sources) -> Part {
    let mut part = Part { facts: times(finding), ..Part::default() };
    let at = locate::of_calls(&stack.frames);
    if let Some((function, Some(line))) = at.and_then(|at| stack.frames[at].source()) {
        part.behind_place = format!(" in {}", escaped(function));
        part.elements.push(match snippet(line, None, sources) {
            Some(snippet) => snippet.into(),
            None => origin(line, sources).into(),
        });
    }
    let (words, calls) = match at {
        Some(0) => ("called here", &stack.frames[1..]),
        _ => ("it happened here", &stack.frames[..]),
    };
    part.callers = (!calls.is_empty()).then(|| note(words, calls, look, sources));
    part
}

/// How often the host did it.
fn times(finding: &Finding) -> Vec<String> {
    (finding.count > 1).then(|| format!("it happened {} times", finding.count)).into_iter().collect()
}

fn renderer(look: &Look) -> Renderer {
    if look.color { Renderer::styled() } else { Renderer::plain() }
}

/// A message without a place.
fn paragraph(level: Level<'static>, message: &str, facts: &[String], look: &Look) -> String {
    let mut group = Group::with_title(level.primary_title(escaped(message)));
    for fact in facts {
        group = group.element(Level::NOTE.no_name().message(fact.as_str()));
    }
    renderer(look).render(&[group]) + "\n\n"
}

/// What happened, and at the right its code.
fn title(finding: &Finding, used: usize) -> String {
    let message = escaped(&finding.message);
    let code = format!("{}[{}]", escaped(&finding.tool), escaped(&finding.code));
    let room = WIDTH.saturating_sub(used + message.chars().count() + code.chars().count()).max(2);
    format!("{message}{:room$}{code}", "")
}

/// `block (0,0,0) thread (100,0,0), and 27 more times`.
fn happened(first: &Occurrence, count: u64) -> String {
    let mut text = thread_name(first.block, first.thread);
    match count {
        0 | 1 => {}
        2 => text += ", and 1 more time",
        _ => _ = write!(text, ", and {} more times", count - 1),
    }
    text
}

/// What stands after the place: the function and the instruction.
fn in_kernel(place: &Place, main: usize) -> String {
    let function = place.lines.get(main).and_then(|line| line.function.as_ref()).unwrap_or(&place.kernel);
    let mut text = format!(" in {}", escaped(&short_name(function)));
    let instruction = place.instruction.trim();
    match (instruction.is_empty(), place.instruction_line) {
        (true, _) => {}
        (false, 0) => _ = write!(text, "  ({})", escaped(instruction)),
        (false, _) if place.lines.is_empty() => _ = write!(text, "  ({})", escaped(instruction)),
        (false, line) => _ = write!(text, "  ({}  PTX line {line})", escaped(instruction)),
    }
    text
}

fn snippet(
    line: &SourceLine,
    label: Option<&str>,
    sources: &mut Sources,
) -> Option<Snippet<'static, Annotation<'static>>> {
    let text = sources.line(&line.file, line.line)?;
    let span = expression_at(text, line.column);
    // Letters that are blotted out may be longer than they were.
    let blotted = [&text[..span.start], &text[span.clone()], &text[span.end..]].map(blotted);
    let span = blotted[0].len()..blotted[0].len() + blotted[1].len();
    let annotation = AnnotationKind::Primary.span(span);
    let annotation = match label {
        Some(label) => annotation.label(label.to_owned()),
        None => annotation,
    };
    let path = escaped(&sources.shown(&line.file));
    Some(Snippet::source(blotted.concat()).line_start(line.line as usize).path(path).annotation(annotation))
}

/// A place whose line cannot be shown.
fn origin(line: &SourceLine, sources: &Sources) -> Origin<'static> {
    let origin = Origin::path(escaped(&sources.shown(&line.file))).line(line.line as usize);
    if line.column == 0 { origin } else { origin.char_column(line.column as usize) }
}

/// `main.cu:22`.
fn position(line: &SourceLine, sources: &Sources) -> String {
    format!("{}:{}", escaped(&sources.shown(&line.file)), line.line)
}

fn calls(stack: Option<&Stack>) -> &[Frame] {
    stack.map_or(&[], |stack| stack.frames.as_slice())
}

/// A fact and how the host came there, a call on each line.
fn note(message: &str, calls: &[Frame], look: &Look, sources: &Sources) -> String {
    let mut text = message.to_owned();
    let most = look.most_callers.max(1);
    let lines = if most == usize::MAX { calls.chunks(1).collect() } else { folded(calls) };
    for (index, frames) in lines.iter().take(most).enumerate() {
        text += if index == 0 { ": " } else { "\nby " };
        match frames {
            [Frame::Code { object, offset }] => {
                let name = object.rsplit('/').next().unwrap_or_default();
                let _ = write!(text, "{}+{offset:#x}", escaped(name));
            }
            [Frame::Source { function, line: None }] => text += &escaped(function),
            [Frame::Source { function, line: Some(line) } | Frame::Script { function, line }] => {
                let _ = write!(text, "{} at {}", escaped(function), position(line, sources));
            }
            _ => {
                let mut packages: Vec<&str> = frames.iter().filter_map(Frame::package).collect();
                packages.dedup();
                let _ = write!(text, "{} of {}", plural(frames.len() as u64, "call"), escaped(&packages.join(", ")));
            }
        }
    }
    if lines.len() > most {
        let hidden: usize = lines[most..].iter().map(|frames| frames.len()).sum();
        let _ = write!(text, "\nand {}", plural(hidden as u64, "more call"));
    }
    text
}

/// Calls as lines: those that a program in Python makes through packages are one line, up to the program's own.
fn folded(calls: &[Frame]) -> Vec<&[Frame]> {
    let is_own = |frame: &Frame| matches!(frame, Frame::Script { .. }) && frame.package().is_none();
    let own = calls.iter().position(is_own).unwrap_or(0);
    let is_foreign = |frame: &Frame| !matches!(frame, Frame::Source { line: Some(_), .. });
    let (before, from_own) = calls.split_at(own);
    let runs = before.chunk_by(|one, next| is_foreign(one) && is_foreign(next));
    // A run of which no package is known has no name.
    let runs =
        runs.flat_map(|run| run.chunks(if run.iter().any(|frame| frame.package().is_some()) { run.len() } else { 1 }));
    runs.chain(from_own.chunks(1)).collect()
}

/// What was not checked, and why.
fn gaps(report: &Report, look: &Look) -> String {
    let mut text = String::new();
    let could_not = report.processes.iter().flat_map(|checked| &checked.unchecked).collect();
    let unwanted = report.processes.iter().flat_map(|checked| &checked.skipped).collect();
    let sections: [(_, _, Vec<&Gap>); 2] = [
        (Level::WARNING, "not checked, because it could not be done:", could_not),
        (Level::NOTE, "not checked, because it was not wanted:", unwanted),
    ];
    for (level, title, mut gaps) in sections {
        gaps.sort();
        gaps.dedup();
        let named = gaps.iter().take(MOST_GAPS);
        let mut facts: Vec<String> = named.map(gap_text).collect();
        if gaps.len() > MOST_GAPS {
            facts.push(format!("and {}", plural((gaps.len() - MOST_GAPS) as u64, "more kernel")));
        }
        if !facts.is_empty() {
            text += &paragraph(level, title, &facts, look);
        }
    }
    text
}

/// Without a kernel, it is a whole module.
fn gap_text(gap: &&Gap) -> String {
    let reason = escaped(&gap.reason);
    if gap.kernel.is_empty() { reason } else { format!("{}: {reason}", escaped(&short_name(&gap.kernel))) }
}

/// How it came out, in one line.
fn last_line(report: &Report, run: &Run) -> String {
    let of = |severity| report.findings.iter().filter(|found| found.finding.severity == severity).count() as u64;
    let sum = |of: fn(&crate::report::Checked) -> u64| {
        report.processes.iter().fold(0_u64, |sum, checked| sum.saturating_add(of(checked)))
    };
    let mut text = format!("{}: ", escaped(&run.tools.join(", ")));
    text += &plural(of(Severity::Error), "error");
    if of(Severity::Warning) > 0 {
        let _ = write!(text, ", {}", plural(of(Severity::Warning), "warning"));
    }
    if !report.suppressed.is_empty() {
        let _ = write!(text, ", {} suppressed", report.suppressed.len());
    }
    if !report.known.is_empty() {
        let _ = write!(text, ", {} known", report.known.len());
    }
    let _ = write!(
        text,
        " in {} and {} of {}",
        plural(sum(|checked| checked.coverage.kernels), "kernel"),
        plural(sum(|checked| checked.coverage.launches), "launch"),
        plural(report.processes.len() as u64, "process")
    );
    let proved = sum(|checked| checked.coverage.proved_launches);
    if proved > 0 {
        let _ = write!(text, ", {proved} of them proved before they ran");
    }
    let unchecked = sum(|checked| checked.coverage.unchecked_launches);
    if unchecked > 0 {
        let _ = write!(text, "; {} not checked", plural(unchecked, "launch"));
    }
    text + "\n"
}
