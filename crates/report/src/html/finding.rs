//! A finding: the line that stands for it in the list, and what is below.

use std::fmt::Write;

use super::markup::text;
use super::{excerpt, memory};
use crate::demangle::{demangled, short_name};
use crate::escape::escaped;
use crate::finding::{Finding, Frame, Place, Severity, thread_name};
use crate::locate;
use crate::picture;
use crate::report::Found;
use crate::source::Sources;

/// More calls of a stack are not shown.
const MOST_CALLS: usize = 12;

/// Its class.
pub(super) fn severity(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// The line in the list.
pub(super) fn line(found: &Found, sources: &mut Sources) -> String {
    let finding = &found.finding;
    let severity = severity(finding);
    let place = match (locate::of_finding(finding, sources), &finding.place) {
        (Some(at), _) => {
            let file = text(&format!("{}:{}", sources.shown(&at.line.file), at.line.line));
            format!("<span class=\"at\">{file} <span>in {}</span></span>", text(&at.function))
        }
        (None, Some(place)) => {
            format!("<span class=\"at\"><span>in {}</span></span>", text(&short_name(&place.kernel)))
        }
        (None, None) => String::new(),
    };
    let times =
        if finding.count > 1 { format!("<span class=\"times\">×{}</span>", finding.count) } else { String::new() };
    format!(
        "<b class=\"{severity}\">{severity}</b> <span class=\"what\">{}</span> {place} {times} <code>{}</code>",
        text(&finding.message),
        text(&format!("{}[{}]", finding.tool, finding.code))
    )
}

/// What the filter searches: the line as words, in small letters, and its severity first.
pub(super) fn words(found: &Found, sources: &mut Sources) -> String {
    let finding = &found.finding;
    let place = match (locate::of_finding(finding, sources), &finding.place) {
        (Some(at), _) => format!("{}:{} in {}", sources.shown(&at.line.file), at.line.line, at.function),
        (None, Some(place)) => format!("in {}", short_name(&place.kernel)),
        (None, None) => String::new(),
    };
    let Finding { tool, code, message, .. } = finding;
    escaped(&format!("{} {message} {place} {tool}[{code}]", severity(finding))).to_lowercase()
}

/// What is below the line, in parts: many findings have some of them in common.
pub(super) fn body(found: &Found, sources: &mut Sources) -> Vec<String> {
    let finding = &found.finding;
    let mut parts = vec!["<div class=\"body\">\n".to_owned()];
    if let Some(at) = locate::of_finding(finding, sources) {
        parts.push(excerpt::figure(&at.line, &format!("in {}", at.function), sources));
    }
    if let [other, _] = &finding.accesses[..]
        && let Some(line) = other.place.as_ref().and_then(|place| locate::of_place(place, sources))
    {
        let caption = format!("the other access: {} by {}", other.what, other.by);
        parts.push(excerpt::figure(line, &caption, sources));
    }
    parts.push(facts(finding));
    parts.extend(finding.object.as_ref().map(memory::object));
    parts.push(memory::threads(finding));
    if finding.accesses.len() == 2 {
        parts.push(format!("<div class=\"wide timeline\">{}</div>\n", picture::timeline(finding, sources)));
    }
    parts.push("<ul class=\"notes\">\n".to_owned());
    if let Some(place) = &finding.place {
        parts.push(inlined(place, sources));
    }
    for note in &finding.notes {
        parts.push(format!("<li>{}", text(&note.message)));
        parts.push(calls(note.stack.as_ref().map_or(&[], |stack| &stack.frames), sources));
    }
    let stack = finding.stack.as_ref().map_or(&[][..], |stack| &stack.frames);
    if !stack.is_empty() {
        let what = if finding.place.is_some() { "launched here" } else { "it happened here" };
        parts.push(format!("<li>{what}{}", calls(stack, sources)));
    }
    parts.extend(found.repeat.as_ref().map(|repeat| format!("<li>repeat with <code>{}</code>\n", text(repeat))));
    parts.push("</ul>\n".to_owned());
    if let Some(help) = &finding.help {
        let (help, code) = (text(help), text(&finding.code));
        parts.push(format!("<p class=\"help\"><b>help</b> {help} <a href=\"#code-{code}\">What is this?</a></p>\n"));
    }
    parts.push("</div>\n".to_owned());
    parts
}

/// The lines that the code was inlined from and into.
fn inlined(place: &Place, sources: &mut Sources) -> String {
    let mut list = String::new();
    let main = locate::index_in_place(place, sources);
    for (index, line) in place.lines.iter().enumerate().filter(|(index, _)| *index != main) {
        let what = if index < main { "which is" } else { "inlined at" };
        let at = text(&format!("{}:{}", sources.shown(&line.file), line.line));
        let function = line.function.as_deref().map(|name| format!(" in <code>{}</code>", text(&short_name(name))));
        let _ = writeln!(list, "<li>{what} {at}{}", function.unwrap_or_default());
    }
    if place.lines.is_empty() && place.instruction_line != 0 {
        list += "<li>compile with <code>-lineinfo</code> to see the line of the source\n";
    }
    list
}

/// Who, when, and by which instruction.
fn facts(finding: &Finding) -> String {
    let mut facts = Vec::new();
    if let Some(first) = &finding.first {
        let more = match finding.count {
            0 | 1 => String::new(),
            count => format!(", and {} more times", count - 1),
        };
        facts.push(format!("{}{more}", thread_name(first.block, first.thread)));
        facts.push(format!("launch {}", first.launch));
    } else if finding.count > 1 {
        facts.push(format!("{} times", finding.count));
    }
    let mut words = text(&facts.join(" · "));
    if let Some(place) = &finding.place {
        if !place.instruction.is_empty() {
            let at = if place.instruction_line == 0 {
                String::new()
            } else {
                format!(" PTX line {}", place.instruction_line)
            };
            let _ = write!(words, " · <code>{}</code>{at}", text(&place.instruction));
        }
        let _ = write!(words, " · <code>{}</code>", text(&demangled(&place.kernel)));
    }
    if let Some(address) = finding.first.as_ref().and_then(|first| first.address) {
        let _ = write!(words, " · address {address:#x}");
    }
    let words = words.trim_start_matches(" · ");
    if words.is_empty() { String::new() } else { format!("<p class=\"facts\">{words}</p>\n") }
}

/// How the host came there, a call on each line.
fn calls(frames: &[Frame], sources: &Sources) -> String {
    if frames.is_empty() {
        return "\n".to_owned();
    }
    let mut list = "<ol>".to_owned();
    for frame in frames.iter().take(MOST_CALLS) {
        list += "<li>";
        list += &match frame {
            Frame::Code { object, offset } => {
                text(&format!("{}+{offset:#x}", object.rsplit('/').next().unwrap_or_default()))
            }
            Frame::Source { function, line: None } => text(function),
            Frame::Source { function, line: Some(line) } | Frame::Script { function, line } => {
                format!(
                    "<code>{}</code> {}",
                    text(function),
                    text(&format!("{}:{}", sources.shown(&line.file), line.line))
                )
            }
        };
    }
    if frames.len() > MOST_CALLS {
        let _ = write!(list, "<li>and {} more calls", frames.len() - MOST_CALLS);
    }
    list + "</ol>\n"
}
