//! A control-flow graph as a picture: blocks from top to bottom in the order of the text, edges forward on the right,
//! edges back on the left. The order of the text is what the reader has beside it, and needs no layout algorithm that
//! could take long on large functions.

use std::collections::BinaryHeap;
use std::fmt::Write;

use super::drawing::{Drawing, DrawnBlock};

const CHAR_WIDTH: f64 = 7.2;
const LINE_HEIGHT: f64 = 15.0;
const GAP: f64 = 26.0;
const LANE: f64 = 12.0;
/// Longer blocks and lines are cut: the text has the rest.
const MAX_LINES: usize = 24;
const MAX_CHARS: usize = 90;

/// Draws a function.
pub(super) fn draw(drawing: &Drawing) -> String {
    let texts: Vec<Vec<String>> = drawing.blocks.iter().map(block_lines).collect();
    let width = texts.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0) as f64 * CHAR_WIDTH + 20.0;
    let mut tops = Vec::with_capacity(texts.len());
    let mut y = 40.0;
    for lines in &texts {
        tops.push(y);
        y += lines.len() as f64 * LINE_HEIGHT + 10.0 + GAP;
    }
    let bottom = |block: usize| tops[block] + texts[block].len() as f64 * LINE_HEIGHT + 10.0;

    let (mut forward, mut back) = (Vec::new(), Vec::new());
    let mut straight = Vec::new();
    for block in &drawing.blocks {
        for edge in &block.edges {
            let (from, to) = (block.id, edge.target);
            if to == from + 1 {
                straight.push((from, edge.kind));
            } else if to > from {
                forward.push((from, to));
            } else {
                back.push((to, from));
            }
        }
    }
    let (forward, right_lanes) = assign_lanes(forward);
    let (back, left_lanes) = assign_lanes(back);
    let left = 20.0 + left_lanes as f64 * LANE + 20.0;
    let right = left + width;
    let total = right + right_lanes as f64 * LANE + 40.0;

    let mut out = String::new();
    let mut put = |text: String| writeln!(out, "{text}").expect("writing to a string");
    put(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total:.0}\" height=\"{y:.0}\" \
         viewBox=\"0 0 {total:.0} {y:.0}\" font-family=\"monospace\" font-size=\"12\">"
    ));
    put(STYLE.to_owned());
    put(format!("<text x=\"{left:.0}\" y=\"24\" class=\"name\">{}</text>", escape(&drawing.function)));
    for (block, lines) in drawing.blocks.iter().zip(&texts) {
        let class = match (block.reachable, block.loop_depth) {
            (false, _) => "dead",
            (true, 0) => "block",
            (true, 1) => "loop1",
            (true, 2) => "loop2",
            (true, _) => "loop3",
        };
        let top = tops[block.id];
        let height = bottom(block.id) - top;
        put(format!(
            "<rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" class=\"{class}\"/>"
        ));
        for (index, line) in lines.iter().enumerate() {
            let class = if index == 0 { " class=\"title\"" } else { "" };
            let baseline = top + 16.0 + index as f64 * LINE_HEIGHT;
            put(format!("<text x=\"{:.0}\" y=\"{baseline:.0}\"{class}>{}</text>", left + 10.0, escape(line)));
        }
    }
    for (from, kind) in straight {
        let x = left + 30.0;
        let class = if kind == "fall-through" { "fall" } else { "taken" };
        put(arrow(class, &format!("M{x:.0} {:.0} L{x:.0} {:.0}", bottom(from), tops[from + 1])));
    }
    for (from, to, lane) in forward {
        let x = right + 14.0 + lane as f64 * LANE;
        let (start, end) = (bottom(from) - 8.0, tops[to] + 8.0);
        put(arrow(
            "taken",
            &format!("M{right:.0} {start:.0} L{x:.0} {start:.0} L{x:.0} {end:.0} L{right:.0} {end:.0}"),
        ));
    }
    for (to, from, lane) in back {
        let x = left - 14.0 - lane as f64 * LANE;
        let (start, end) = (bottom(from) - 8.0, tops[to] + 8.0);
        put(arrow("back", &format!("M{left:.0} {start:.0} L{x:.0} {start:.0} L{x:.0} {end:.0} L{left:.0} {end:.0}")));
    }
    out += "</svg>\n";
    out
}

const STYLE: &str = "<style>
rect { stroke: #555; fill: #fff } .loop1 { fill: #eaf2fb } .loop2 { fill: #d3e4f7 } .loop3 { fill: #b6d2f0 }
.dead { fill: #eee; stroke-dasharray: 4 } text { fill: #111; white-space: pre } .title { fill: #666 }
.name { font-weight: bold; font-size: 14px } path { fill: none; stroke: #555; marker-end: url(#tip) }
.taken { stroke: #2a7a2a } .back { stroke: #b03030 }
</style>
<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
<path d=\"M0 0 L8 4 L0 8 Z\" style=\"fill:#555;stroke:none;marker-end:none\"/></marker></defs>";

fn arrow(class: &str, path: &str) -> String {
    format!("<path class=\"{class}\" d=\"{path}\"/>")
}

fn block_lines(block: &DrawnBlock) -> Vec<String> {
    let shown = if block.instructions.len() > MAX_LINES { MAX_LINES - 1 } else { block.instructions.len() };
    let mut lines = vec![block.title()];
    lines.extend(block.instructions[..shown].iter().cloned());
    if shown < block.instructions.len() {
        lines.push(format!("… {} more", block.instructions.len() - shown));
    }
    for line in &mut lines {
        if let Some((cut, _)) = line.char_indices().nth(MAX_CHARS) {
            line.truncate(cut);
            line.push('…');
        }
    }
    lines
}

/// Gives each edge a lane in which it overlaps no other, as few lanes as possible: in the order of their tops, each
/// takes the lane that has been free the longest.
fn assign_lanes(mut edges: Vec<(usize, usize)>) -> (Vec<(usize, usize, usize)>, usize) {
    edges.sort_unstable();
    let mut free_from: BinaryHeap<std::cmp::Reverse<(usize, usize)>> = BinaryHeap::new();
    let mut lanes = 0;
    let mut assigned = Vec::with_capacity(edges.len());
    for (top, bottom) in edges {
        let lane = match free_from.peek() {
            Some(&std::cmp::Reverse((end, lane))) if end < top => {
                free_from.pop();
                lane
            }
            _ => {
                lanes += 1;
                lanes - 1
            }
        };
        free_from.push(std::cmp::Reverse((bottom, lane)));
        assigned.push((top, bottom, lane));
    }
    (assigned, lanes)
}

/// Text for XML: what has a meaning there, and what is not allowed there.
fn escape(text: &str) -> String {
    ptx::diagnostic::printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
