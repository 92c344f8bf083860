//! Charts in SVG: what came of the trials of a model, a bar for each kernel and variant.

use std::fmt::Write;

use report::{demangled, markup_text as xml};

use crate::summary::{Cell, OUTCOMES};

const LABELS: f64 = 330.0;
const BARS: f64 = 480.0;
const WIDTH: f64 = LABELS + BARS + 40.0;
const LINE: f64 = 24.0;
const TOP: f64 = 40.0;
/// Longer names are cut.
const MOST_LETTERS: usize = 44;

fn short(text: &str) -> String {
    match text.chars().count() > MOST_LETTERS {
        true => text.chars().take(MOST_LETTERS - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

fn start(svg: &mut String, title: &str, lines: usize) {
    let height = TOP + LINE * lines as f64 + 24.0;
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\"><title>{0}</title>\n\
         <text class=\"name\" x=\"0\" y=\"16\">{0}</text>",
        xml(title)
    );
}

fn label(svg: &mut String, cell: &Cell, y: f64) {
    let name = format!("{}, {}", demangled(&cell.kernel), cell.variant);
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        LABELS - 8.0,
        y + 12.0,
        xml(&short(&name))
    );
}

fn axis(svg: &mut String, y: f64, marks: [&str; 3]) {
    for (mark, share) in marks.into_iter().zip([0.0, 0.5, 1.0]) {
        let x = LABELS + BARS * share;
        let _ = writeln!(svg, "<path class=\"axis\" d=\"M{x} {} V{y}\"/>", TOP - 6.0);
        let _ = writeln!(svg, "<text class=\"axis\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{mark}</text>", y + 16.0);
    }
}

/// The shares of outcomes.
pub(crate) fn outcomes(model: &str, cells: &[&Cell]) -> String {
    let mut svg = String::new();
    start(&mut svg, &format!("what came of {model}"), cells.len());
    for (line, cell) in cells.iter().enumerate() {
        let y = TOP + LINE * line as f64;
        label(&mut svg, cell, y);
        let mut x = LABELS;
        for outcome in OUTCOMES {
            let count = cell.count(outcome);
            let width = BARS * count as f64 / cell.trials.max(1) as f64;
            if count > 0 {
                let _ = writeln!(
                    svg,
                    "<rect class=\"{outcome}\" x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"16\"><title>{count} {outcome}</title></rect>"
                );
            }
            x += width;
        }
    }
    axis(&mut svg, TOP + LINE * cells.len() as f64, ["0 %", "50 %", "100 %"]);
    svg + "</svg>\n"
}

/// Bounds on the share of silent corruption.
pub(crate) fn corruption(model: &str, cells: &[&Cell]) -> String {
    let most = cells.iter().map(|cell| cell.sdc_at_most).fold(0.0, f64::max).max(1e-9);
    let mut svg = String::new();
    start(&mut svg, &format!("silent corruption by {model}, with bounds at 95 %"), cells.len());
    for (line, cell) in cells.iter().enumerate() {
        let y = TOP + LINE * line as f64;
        label(&mut svg, cell, y);
        let at = |share: f64| LABELS + BARS * share / most;
        let (low, high) = (at(cell.sdc_at_least), at(cell.sdc_at_most));
        let middle = at(cell.count("sdc") as f64 / cell.trials.max(1) as f64);
        let _ = writeln!(
            svg,
            "<path class=\"bounds\" d=\"M{low:.2} {0} H{high:.2} M{low:.2} {1} v8 M{high:.2} {1} v8\"/>\
             <circle class=\"sdc\" cx=\"{middle:.2}\" cy=\"{0}\" r=\"4\"><title>{2}</title></circle>",
            y + 8.0,
            y + 4.0,
            xml(&cell.share_in_words())
        );
    }
    let [half, whole] = [50.0, 100.0].map(|share| format!("{:.2} %", share * most));
    axis(&mut svg, TOP + LINE * cells.len() as f64, ["0 %", &half, &whole]);
    svg + "</svg>\n"
}
