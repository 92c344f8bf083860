//! Tables: what tools count, a row for each line of a program or whatever else they count by.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::escape::escaped;
use crate::source::Sources;

/// A row of a table.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Row {
    /// The tool: `loads`.
    pub tool: String,
    /// Which of its tables: `lines`.
    pub table: String,
    /// The columns, in their order: name and value. All rows of a table have the same.
    pub cells: Vec<(String, Cell)>,
}

/// A value in a table.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// A text that says what the row is of.
    Text(String),
    /// A number that says what the row is of: a line.
    Number(u64),
    /// What was counted: rows of several processes that are of the same are added up.
    Count(u64),
    /// The most of something: of rows of several processes that are of the same, the largest is kept.
    Most(u64),
}

impl Row {
    /// A row of a table of a tool.
    pub fn new(tool: &str, table: &str) -> Self {
        Self { tool: tool.to_owned(), table: table.to_owned(), cells: Vec::new() }
    }

    /// With one more column.
    #[must_use]
    pub fn with(mut self, name: &str, cell: Cell) -> Self {
        self.cells.push((name.to_owned(), cell));
        self
    }

    fn cell(&self, column: &str) -> Option<&Cell> {
        self.cells.iter().find(|(name, _)| name == column).map(|(_, cell)| cell)
    }

    /// The text in a column; empty if it has none.
    pub fn text(&self, column: &str) -> &str {
        if let Some(Cell::Text(text)) = self.cell(column) { text } else { "" }
    }

    /// The number in a column; 0 if it has none.
    pub fn number(&self, column: &str) -> u64 {
        if let Some(Cell::Number(number) | Cell::Count(number) | Cell::Most(number)) = self.cell(column) {
            *number
        } else {
            0
        }
    }

    /// What makes two rows one: all but what was counted.
    pub(crate) fn key(&self) -> String {
        let cells: Vec<(&str, Option<&Cell>)> = self
            .cells
            .iter()
            .map(|(name, cell)| {
                (name.as_str(), Some(cell).filter(|cell| !matches!(cell, Cell::Count(_) | Cell::Most(_))))
            })
            .collect();
        serde_json::to_string(&(&self.tool, &self.table, cells)).expect("strings and numbers can be written")
    }

    /// Adds what another row of the same counted.
    pub(crate) fn add(&mut self, other: &Self) {
        for ((_, cell), (_, other)) in self.cells.iter_mut().zip(&other.cells) {
            match (cell, other) {
                (Cell::Count(count), Cell::Count(more)) => *count = count.saturating_add(*more),
                (Cell::Most(most), Cell::Most(other)) => *most = (*most).max(*other),
                _ => {}
            }
        }
    }
}

impl Cell {
    fn text(&self, column: &str, sources: &Sources) -> String {
        match self {
            // As findings name it.
            Self::Text(file) if column == "file" => escaped(&sources.shown(file)),
            Self::Text(text) => escaped(text),
            Self::Number(number) | Self::Count(number) | Self::Most(number) => number.to_string(),
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

/// All tables as text, with files as findings name them: each with its name above it, numbers at the right of their columns.
pub(crate) fn render(rows: &[Row], sources: &Sources) -> String {
    let mut text = String::new();
    let mut rest = rows;
    while let [first, ..] = rest {
        let is_in_table = |row: &Row| (&row.tool, &row.table) == (&first.tool, &first.table);
        let end = rest.iter().position(|row| !is_in_table(row)).unwrap_or(rest.len());
        let (table, after) = rest.split_at(end);
        rest = after;
        let _ = writeln!(text, "{}: {}", escaped(&first.tool), escaped(&first.table));
        text += &render_one(table, sources);
        text.push('\n');
    }
    text
}

fn render_one(rows: &[Row], sources: &Sources) -> String {
    let names: Vec<(String, bool)> = rows[0].cells.iter().map(|(name, cell)| (escaped(name), cell.is_text())).collect();
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| row.cells.iter().map(|(name, cell)| cell.text(name, sources)).collect()).collect();
    let letters = |text: &str| text.chars().count();
    let width = |column: usize| {
        let of_cells = cells.iter().filter_map(|row| row.get(column)).map(|cell| letters(cell));
        of_cells.chain([letters(&names[column].0)]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    let mut text = String::new();
    let header: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    for row in std::iter::once(&header).chain(&cells) {
        let mut line = String::from("  ");
        for ((cell, &width), (_, is_text)) in row.iter().zip(&widths).zip(&names) {
            let space = " ".repeat(width.saturating_sub(letters(cell)));
            let (before, after) = if *is_text { ("", space.as_str()) } else { (space.as_str(), "") };
            let _ = write!(line, "{before}{cell}{after}  ");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_columns() {
        let row = |file: &str, line, count| {
            let row = Row::new("loads", "lines").with("file", Cell::Text(file.to_owned()));
            row.with("line", Cell::Number(line)).with("loads", Cell::Count(count))
        };
        let rows = [row("a.cu", 7, 1_000_000), row("longer\u{1b}.cu", 12, 5)];
        let text = render(&rows, &Sources::below([]));
        let expected = "\
loads: lines
  file             line    loads
  a.cu                7  1000000
  longer\\u{1b}.cu    12        5

";
        assert_eq!(text, expected);
    }

    #[test]
    fn rows_of_the_same_are_added() {
        let row = |line, count| Row::new("t", "l").with("line", Cell::Number(line)).with("n", Cell::Count(count));
        let mut first = row(3, 5);
        assert!(first.key() == row(3, 9).key() && first.key() != row(4, 5).key());
        first.add(&row(3, u64::MAX));
        assert_eq!(first, row(3, u64::MAX));
    }
}
