//! What tools counted: beside the lines of the source where it is by line, and as tables where it is not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::markup::{code, text};
use crate::source::Sources;
use crate::table::{Cell, Row};

/// So many lines before and after one that has counts are shown.
const AROUND: u32 = 2;
/// Tables of this name have counts that are parts of a whole, by what their first column says.
const OUTCOMES: &str = "outcomes";
/// More rows of a table are counted, and not shown.
const MOST_ROWS: usize = 2000;

/// All tables.
pub(super) fn all(rows: &[Row], sources: &mut Sources) -> String {
    let mut sections = String::new();
    for table in rows.chunk_by(|row, next| (&row.tool, &row.table) == (&next.tool, &next.table)) {
        let [first, ..] = table else { continue };
        let _ = writeln!(sections, "<section>\n<h2>{}: {}</h2>", text(&first.tool), text(&first.table));
        let has = |name: &str| first.cells.iter().any(|(column, _)| column == name);
        let shown = &table[..table.len().min(MOST_ROWS)];
        sections += &match () {
            () if has("file") && has("line") => annotated(shown, sources),
            () if first.table == OUTCOMES => chart(shown),
            () => plain(shown),
        };
        if table.len() > shown.len() {
            let _ = writeln!(sections, "<p>and {} more rows, which the JSON has</p>", table.len() - shown.len());
        }
        sections += "</section>\n";
    }
    sections
}

fn plain(rows: &[Row]) -> String {
    let mut table = "<div class=\"wide\"><table><tr>".to_owned();
    for (name, cell) in rows.first().iter().flat_map(|row| &row.cells) {
        let _ = write!(table, "<th{}>{}", class(cell), text(name));
    }
    table += "</tr>\n";
    for row in rows {
        table += "<tr>";
        for (_, cell) in &row.cells {
            let _ = write!(table, "<td{}>{}", class(cell), value(cell));
        }
        table += "</tr>\n";
    }
    table + "</table></div>\n"
}

/// A bar for each row, and a part of it for each count.
fn chart(rows: &[Row]) -> String {
    let mut chart = String::new();
    for row in rows {
        let counts = || row.cells.iter().filter(|(_, cell)| matches!(cell, Cell::Count(_)));
        let all = counts().fold(0_u64, |sum, (name, _)| sum.saturating_add(row.number(name))).max(1);
        let title = row.cells.first().map(|(_, cell)| value(cell)).unwrap_or_default();
        let _ = writeln!(chart, "<h3>{title}</h3>\n<div class=\"chart\" aria-hidden=\"true\">");
        for (part, (name, _)) in counts().enumerate() {
            let share = row.number(name) as f64 * 100.0 / all as f64;
            let _ = write!(chart, "<i class=\"part{}\" style=\"width:{share:.3}%\"></i>", part % 6);
        }
        chart += "</div>\n<ul class=\"legend\">\n";
        for (part, (name, _)) in counts().enumerate().filter(|(_, (name, _))| row.number(name) > 0) {
            let count = row.number(name);
            let share = count as f64 * 100.0 / all as f64;
            let _ =
                writeln!(chart, "<li><i class=\"part{}\"></i> <b>{count}</b> {}, {share:.1} %", part % 6, text(name));
        }
        for (name, cell) in row.cells.iter().skip(1).filter(|(_, cell)| !matches!(cell, Cell::Count(_))) {
            let _ = writeln!(chart, "<li>{}: {}", text(name), value(cell));
        }
        chart += "</ul>\n";
    }
    chart
}

fn class(cell: &Cell) -> &'static str {
    if matches!(cell, Cell::Text(_)) { "" } else { " class=\"n\"" }
}

fn value(cell: &Cell) -> String {
    match cell {
        Cell::Text(words) => text(words),
        Cell::Number(number) | Cell::Count(number) | Cell::Most(number) => number.to_string(),
    }
}

/// The source with the rows of each line below it. The bar at a line is its share of the largest of its kind of count.
fn annotated(rows: &[Row], sources: &mut Sources) -> String {
    let mut files: BTreeMap<&str, BTreeMap<u32, Vec<&Row>>> = BTreeMap::new();
    for row in rows {
        let line = u32::try_from(row.number("line")).unwrap_or(u32::MAX);
        files.entry(row.text("file")).or_default().entry(line).or_default().push(row);
    }
    let most = rows.iter().map(cost).max().unwrap_or(0).max(1);
    let mut figures = String::new();
    for (file, lines) in files {
        let name = if file.is_empty() { "no file is known".to_owned() } else { sources.shown(file) };
        let _ = writeln!(
            figures,
            "<figure><figcaption><b>{}</b></figcaption><div class=\"source annotated\">",
            text(&name)
        );
        let mut around = BTreeSet::new();
        for &line in lines.keys() {
            around.extend(line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND));
            around.insert(line);
        }
        let mut last = 0;
        for number in around {
            let Some(source) =
                sources.line(file, number).map(code).or_else(|| lines.contains_key(&number).then(String::new))
            else {
                continue;
            };
            if last != 0 && number != last + 1 {
                figures += "<div class=\"fold\">⋯</div>";
            }
            last = number;
            let counted = lines.get(&number).map_or(&[][..], Vec::as_slice);
            let here = if counted.is_empty() { "" } else { " class=\"here\"" };
            let _ = writeln!(figures, "<pre{here}><i>{number}</i>{source}</pre>");
            for row in counted {
                let share = cost(row) as f64 * 100.0 / most as f64;
                let _ = writeln!(
                    figures,
                    "<div class=\"counts\"><span class=\"heat\" style=\"width:{share:.1}%\"></span>{}</div>",
                    counts(row)
                );
            }
        }
        figures += "</div></figure>\n";
    }
    figures
}

/// What makes a line stand out: the largest of what was counted there. Bytes are what lanes ask for, and cost nothing by
/// themselves.
fn cost(row: &Row) -> u64 {
    let counted = row.cells.iter().filter_map(|(name, cell)| match cell {
        Cell::Count(count) if name != "bytes" => Some(*count),
        _ => None,
    });
    counted.max().unwrap_or(0)
}

/// The words of a row, the columns that it answers with yes, and then its numbers, without the line that it is at. What is zero
/// or answered with no is left out.
fn counts(row: &Row) -> String {
    let mut words = Vec::new();
    let mut answers = Vec::new();
    let mut numbers = Vec::new();
    for (name, cell) in &row.cells {
        match cell {
            _ if name == "file" || name == "line" => {}
            Cell::Text(word) if name == "kernel" => words.push(text(&crate::demangle::short_name(word))),
            Cell::Text(word) if word == "no" || word.is_empty() => {}
            Cell::Text(word) if word == "yes" || word == "may" => answers.push(answer(name, word)),
            Cell::Text(word) => words.push(text(word)),
            Cell::Number(0) | Cell::Count(0) | Cell::Most(0) => {}
            Cell::Number(number) | Cell::Count(number) | Cell::Most(number) => {
                numbers.push(format!("<span><b>{number}</b> {}</span>", text(&name.replace('_', " "))));
            }
        }
    }
    words.extend(answers);
    format!("<em>{}</em> {}", words.join(" · "), numbers.join(" "))
}

/// A column whose answer is yes, or that it may be so.
fn answer(name: &str, word: &str) -> String {
    let name = text(&name.replace('_', " "));
    if word == "may" { format!("perhaps {name}") } else { name }
}
