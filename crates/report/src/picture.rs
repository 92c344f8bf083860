//! Findings of two accesses as a picture: the two threads beside each other, time goes down, and what would have ordered them
//! is missing between.

use std::fmt::Write;

use crate::demangle::short_name;
use crate::escape::escaped;
use crate::finding::{AccessOf, Finding, Severity};
use crate::locate;
use crate::report::Report;
use crate::source::Sources;

/// More findings are counted, and not drawn.
const MOST_DRAWN: usize = 100;
/// Longer lines are cut.
const MOST_LETTERS: usize = 58;
/// The middle of each thread's column, and half the width of what stands in it.
const COLUMNS: [u32; 2] = [250, 710];
const HALF: u32 = 215;
const WIDTH: u32 = 960;
/// The height of a finding.
const HEIGHT: u32 = 330;

/// The findings of a report that are about two accesses, one below the other, as SVG.
pub fn svg(report: &Report, sources: &mut Sources) -> String {
    let all = || report.findings.iter().map(|found| &found.finding).filter(|finding| finding.accesses.len() == 2);
    let shown = all().count().min(MOST_DRAWN);
    let height = 20 + HEIGHT * shown.max(1) as u32 + 30;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n{STYLE}\n"
    );
    for (index, finding) in all().take(MOST_DRAWN).enumerate() {
        let _ = writeln!(svg, "<g transform=\"translate(0 {})\">", 20 + HEIGHT * index as u32);
        draw(&mut svg, finding, sources);
        svg += "</g>\n";
    }
    let rest = match (all().count(), all().count() - shown) {
        (0, _) => "no two accesses race".to_owned(),
        (_, 0) => String::new(),
        (_, more) => format!("and {more} more, which the report lists"),
    };
    text(&mut svg, WIDTH / 2, height - 12, "middle", "", &rest);
    svg + "</svg>\n"
}

/// One finding of two accesses, for a page that has its message and help beside it, and styles of its own.
pub(crate) fn timeline(finding: &Finding, sources: &mut Sources) -> String {
    // Without the title above, and the help below.
    let (top, height) = (28, HEIGHT - 44);
    let mut svg =
        format!("<svg viewBox=\"0 {top} {WIDTH} {height}\" role=\"img\" aria-label=\"two accesses that race\">");
    draw(&mut svg, finding, sources);
    svg + "</svg>"
}

fn draw(svg: &mut String, finding: &Finding, sources: &mut Sources) {
    let [first, second] = &finding.accesses[..] else { return };
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    text(svg, 20, 16, "start", "name", &format!("{severity}: {}", finding.message));
    let shares_barriers = first.launch == second.launch && first.block.is_some() && first.block == second.block;
    for (access, x) in [first, second].into_iter().zip(COLUMNS) {
        text(svg, x, 46, "middle", "", &format!("{} of {}", access.by, short_name(&access.kernel)));
        let _ = writeln!(svg, "<path class=\"time\" d=\"M{x} 56 V{}\"/>", HEIGHT - 30);
    }
    // What is before the first and after the second of them.
    let bounds = |access: &AccessOf| {
        let before = match access.barriers {
            Some(0) => "the kernel begins".to_owned(),
            Some(count) => format!("barrier {count} of the block"),
            None => "the barrier before, or where the kernel begins".to_owned(),
        };
        [before, "the next barrier, or the end of the kernel".to_owned()]
    };
    for (place, y) in [75, HEIGHT - 55].into_iter().enumerate() {
        if shares_barriers {
            line_across(svg, COLUMNS[0] - HALF, COLUMNS[1] + HALF, y, &bounds(first)[place]);
        } else {
            for (access, x) in [first, second].into_iter().zip(COLUMNS) {
                line_across(svg, x - HALF, x + HALF, y, &bounds(access)[place]);
            }
        }
    }
    for ((access, x), y) in [first, second].into_iter().zip(COLUMNS).zip([100, 195]) {
        draw_access(svg, access, x, y, sources);
    }
    let [from, to] = [COLUMNS[0] + HALF, COLUMNS[1] - HALF];
    let _ = writeln!(svg, "<path class=\"race {severity}\" d=\"M{from} 125 L{to} 220\"/>");
    let missing = finding.notes.first().map_or("", |note| note.message.as_str());
    text(svg, WIDTH / 2, HEIGHT - 22, "middle", severity, missing);
    if let Some(help) = &finding.help {
        text(svg, WIDTH / 2, HEIGHT - 4, "middle", "quiet", help);
    }
}

fn draw_access(svg: &mut String, access: &AccessOf, x: u32, y: u32, sources: &mut Sources) {
    let line = access.place.as_ref().and_then(|place| locate::of_place(place, sources));
    let what = &access.what;
    let (at, code) = match (line, &access.place) {
        (Some(line), _) => {
            let at = format!("{what} at {}:{}", sources.shown(&line.file), line.line);
            (at, sources.line(&line.file, line.line).map(|text| text.trim().to_owned()).unwrap_or_default())
        }
        (None, Some(place)) => (format!("{what} at PTX line {}", place.instruction_line), place.instruction.clone()),
        (None, None) => (format!("{what}, whose line is not known any more"), String::new()),
    };
    let _ = writeln!(svg, "<rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"50\" rx=\"4\"/>", x - HALF, 2 * HALF);
    text(svg, x, y + 20, "middle", "", &at);
    text(svg, x, y + 40, "middle", "code", &code);
}

fn line_across(svg: &mut String, from: u32, to: u32, y: u32, what: &str) {
    let _ = writeln!(svg, "<path class=\"barrier\" d=\"M{from} {y} H{to}\"/>");
    text(svg, from + 4, y - 4, "start", "quiet", what);
}

pub(crate) fn text(svg: &mut String, x: u32, y: u32, anchor: &str, class: &str, words: &str) {
    let mut words = escaped(words);
    let most = if class == "code" { MOST_LETTERS } else { 2 * MOST_LETTERS };
    if let Some((end, _)) = words.char_indices().nth(most) {
        words.truncate(end);
        words.push('…');
    }
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" class=\"{class}\">{words}</text>");
}

pub(crate) const STYLE: &str = "<style>
svg { background: #fff } text { fill: #111; white-space: pre } .name { font-weight: bold; font-size: 15px }
.quiet { fill: #666; paint-order: stroke; stroke: #fff; stroke-width: 5px } .code { font-family: monospace; font-size: 11px } text.error { fill: #b03030 }
text.warning { fill: #a06a00 } rect { fill: #eaf2fb; stroke: #555 } path { fill: none } .time { stroke: #999 }
.barrier { stroke: #2a7a2a; stroke-width: 2; stroke-dasharray: 6 4 } .race { stroke-width: 2; stroke-dasharray: 2 4 }
.race.error { stroke: #b03030 } .race.warning { stroke: #d9a300 } rect.bar { fill: #6f9fd8; stroke: none }
</style>";
