//! Runs of one program that differ in a value, as one report: rows of tables say which run they are of.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::picture::{self, STYLE};
use crate::report::Report;
use crate::table::{Cell, Row};

/// The column that says which run a row is of.
const COLUMN: &str = "sweep";
/// What rows of the same thing have in common, in this order.
const SAME: [&str; 6] = ["arch", "kernel", "file", "line", "space", "access"];

/// The width of the drawing, of the labels in it, and of the longest bar.
const WIDTH: u32 = 760;
const LABELS: u32 = 170;
const LONGEST: u32 = 440;
/// The height of a bar with the space below it, and of a title.
const BAR: u32 = 22;
const TITLE: u32 = 34;

impl Report {
    /// Several runs as one, with the name of each. A finding that several have is there once.
    pub fn of_sweep(runs: Vec<(String, Self)>) -> Self {
        let mut all = Self::default();
        let mut rows: Vec<(Row, usize)> = Vec::new();
        for (nth, (name, run)) in runs.into_iter().enumerate() {
            for found in run.findings {
                match all.findings.iter_mut().find(|known| known.fingerprint == found.fingerprint) {
                    Some(known) => known.processes.extend(found.processes),
                    None => all.findings.push(found),
                }
            }
            rows.extend(run.rows.into_iter().map(|row| (of_run(row, &name), nth)));
            all.processes.extend(run.processes);
            all.left_running.extend(run.left_running);
            all.unreadable_journals += run.unreadable_journals;
            all.lost += run.lost;
            all.lost_rows += run.lost_rows;
        }
        rows.sort_by_cached_key(|(row, nth)| {
            let same = SAME.map(|column| (row.text(column).to_owned(), row.number(column)));
            (row.tool.clone(), row.table.clone(), same, *nth)
        });
        all.rows = rows.into_iter().map(|(row, _)| row).collect();
        all
    }

    /// Whether it is of several runs.
    pub fn is_sweep(&self) -> bool {
        self.rows.iter().any(|row| !row.text(COLUMN).is_empty())
    }
}

/// A row with the run that it is of, after the kernel.
fn of_run(mut row: Row, name: &str) -> Row {
    let after = row.cells.iter().position(|(column, _)| column == "kernel").map_or(0, |at| at + 1);
    row.cells.insert(after, (COLUMN.to_owned(), Cell::Text(name.to_owned())));
    row
}

/// What is drawn of a kernel.
type Panel<'a> = (&'a str, &'a str, &'static str);

/// The runs of a sweep beside each other, for each kernel, as SVG: sectors of global memory, passes through the banks of shared
/// memory, and warps of a multiprocessor.
pub fn sweep_svg(report: &Report) -> String {
    let panels = panels(report);
    let height = panels.iter().map(|(_, bars)| TITLE + BAR * bars.len() as u32).sum::<u32>() + 40;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n{STYLE}\n"
    );
    let mut y = 10;
    for ((kernel, arch, what), bars) in &panels {
        y += TITLE;
        picture::text(&mut svg, 10, y - 10, "start", "name", &format!("{kernel}, {arch}: {what}"));
        let most = bars.iter().map(|(_, value)| *value).max().unwrap_or(0).max(1);
        for (name, value) in bars {
            let long = (u128::from(*value) * u128::from(LONGEST) / u128::from(most)) as u32;
            picture::text(&mut svg, LABELS, y + 10, "end", "", name);
            let _ = writeln!(
                svg,
                "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{long}\" height=\"{}\"/>",
                LABELS + 10,
                y - 3,
                BAR - 6
            );
            picture::text(&mut svg, LABELS + 16 + long, y + 10, "start", "", &value.to_string());
            y += BAR;
        }
    }
    if panels.is_empty() {
        picture::text(&mut svg, WIDTH / 2, 24, "middle", "", "no run counted anything");
    }
    svg + "</svg>\n"
}

/// What is drawn, each with the runs and their numbers.
fn panels(report: &Report) -> Vec<(Panel<'_>, Vec<(&str, u64)>)> {
    let mut panels: BTreeMap<Panel<'_>, Vec<(&str, u64)>> = BTreeMap::new();
    for row in &report.rows {
        let drawn: &[(&str, &'static str, bool)] = match row.table.as_str() {
            "lines" => &[
                ("sectors", "sectors of global memory", false),
                ("bank_passes", "passes through the banks of shared memory", false),
            ],
            "occupancy" => &[("warps", "warps that fit on a multiprocessor", true)],
            _ => &[],
        };
        for &(column, what, is_most) in drawn {
            let bars = panels.entry((row.text("kernel"), row.text("arch"), what)).or_default();
            let (name, value) = (row.text(COLUMN), row.number(column));
            match bars.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) if is_most => *sum = value.max(*sum),
                Some((_, sum)) => *sum = sum.saturating_add(value),
                None => bars.push((name, value)),
            }
        }
    }
    panels.retain(|_, bars| bars.iter().any(|(_, value)| *value > 0));
    panels.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: u64, sectors: u64) -> Report {
        let row = Row::new("traffic", "lines").with("kernel", Cell::Text("k".to_owned()));
        let row = row.with("line", Cell::Number(line)).with("sectors", Cell::Count(sectors));
        let other = Row { cells: row.cells.clone(), ..Row::new("traffic", "lines") };
        let mut report = Report { rows: vec![row, other], lost: 1, ..Report::default() };
        report.rows[1].cells[1].1 = Cell::Number(line + 1);
        report
    }

    #[test]
    fn runs_are_beside_each_other() {
        let report = Report::of_sweep(vec![("n=9".to_owned(), run(3, 40)), ("n=10".to_owned(), run(3, 20))]);
        let rows: Vec<_> = report.rows.iter().map(|row| (row.number("line"), row.text("sweep"))).collect();
        assert_eq!(rows, [(3, "n=9"), (3, "n=10"), (4, "n=9"), (4, "n=10")]);
        assert_eq!(report.lost, 2);
        assert!(report.is_sweep() && !run(3, 1).is_sweep());
        let svg = sweep_svg(&report);
        assert!(svg.contains(">80<") && svg.contains(">40<") && svg.contains("n=10"), "{svg}");
    }
}
