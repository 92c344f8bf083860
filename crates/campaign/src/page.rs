//! The report as a page: one file, with charts and styles in it, for light and dark.

use std::fmt::Write;

use report::{demangled, markup_text as xml};

use crate::chart::{corruption, outcomes};
use crate::summary::{Cell, OUTCOMES, Summary};

const STYLE: &str = "
:root { color-scheme: light dark; --text: #1b1b1b; --page: #fff; --line: #ccc; --masked: #9fb6c9; --read: #c9d6df; --sdc: #c0392b;
  --fault: #e08e0b; --hang: #8e6bb5; --detected: #2e8b57; --recovered: #7bbf8f; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e6; --page: #16181a; --line: #444; --masked: #54697b; --read: #3b4a56;
  --sdc: #e0675a; --fault: #d9a13b; --hang: #a78bcb; --detected: #4caf7a; --recovered: #6a9c79; } }
body { font: 15px/1.5 sans-serif; color: var(--text); background: var(--page); max-width: 1200px; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; display: block; overflow-x: auto; } th, td { padding: .25em .5em; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; } code { overflow-wrap: anywhere; }
svg { width: 100%; font: 12px sans-serif; } svg text { fill: var(--text); } svg .name { font-weight: bold; font-size: 14px; }
.axis { stroke: var(--line); fill: none; } text.axis { stroke: none; fill: var(--text); } .chart { overflow-x: auto; } .chart svg { min-width: 640px; } .bounds { stroke: var(--text); stroke-width: 1.5; fill: none; }
.masked { fill: var(--masked); } .never-read { fill: var(--read); } .sdc { fill: var(--sdc); } .fault { fill: var(--fault); }
.hang { fill: var(--hang); } .detected { fill: var(--detected); } .recovered { fill: var(--recovered); }
.key span { display: inline-block; margin-right: 1.2em; } .key svg { width: 12px; height: 12px; vertical-align: -1px; margin-right: .3em; }
";

/// The page.
pub fn page(summary: &Summary) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Campaign {0}</title><style>{STYLE}</style></head><body>\n<h1>Campaign</h1>\n\
         <p><code>{0}</code>: {1} of {2} trials. Kernels, models and variants are not added up: their trials are of different \
         populations. Bounds are those of Clopper and Pearson at 95 %.</p>\n",
        xml(&summary.campaign),
        summary.rows,
        summary.expected
    );
    let mut models: Vec<&str> = Vec::new();
    for cell in &summary.cells {
        if !models.contains(&cell.model.as_str()) {
            models.push(&cell.model);
        }
    }
    html += "<p class=\"key\">";
    for outcome in &OUTCOMES[..OUTCOMES.len() - 1] {
        let _ = write!(
            html,
            "<span><svg viewBox=\"0 0 12 12\"><rect class=\"{outcome}\" width=\"12\" height=\"12\"/></svg>{outcome}</span>"
        );
    }
    html += "</p>\n";
    for model in models {
        let cells: Vec<&Cell> = summary.cells.iter().filter(|cell| cell.model == model).collect();
        let _ = writeln!(html, "<h2>{}</h2>", xml(model));
        let _ = write!(html, "<div class=\"chart\">{}{}</div>", outcomes(model, &cells), corruption(model, &cells));
        table(&mut html, &cells);
    }
    html + "</body></html>\n"
}

fn table(html: &mut String, cells: &[&Cell]) {
    // What is looked for comes first: a narrow window does not show all.
    *html += "<table><tr><th>kernel</th><th>variant</th><th>silent corruption</th><th>coverage</th><th>trials</th><th>invalid</th>";
    for outcome in &OUTCOMES[..OUTCOMES.len() - 1] {
        let _ = write!(html, "<th>{outcome}</th>");
    }
    *html += "</tr>\n";
    for cell in cells {
        let (kernel, variant) = (xml(&demangled(&cell.kernel)), xml(&cell.variant));
        let _ = write!(html, "<tr><td><code>{kernel}</code></td><td>{variant}</td>");
        let _ = write!(html, "<td>{}</td><td>{}</td>", xml(&cell.share_in_words()), xml(&cell.coverage_in_words()));
        let _ = write!(html, "<td>{}</td><td>{}</td>", cell.trials, cell.invalid);
        for outcome in &OUTCOMES[..OUTCOMES.len() - 1] {
            let _ = write!(html, "<td>{}</td>", cell.count(outcome));
        }
        *html += "</tr>\n";
    }
    *html += "</table>\n";
}
