//! The report, in every form and place that the flags ask for.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use report::{Look, Report, Run, Sources};

use super::flags::{Args, Color, Format};
use super::path::FilePattern;
use crate::output;

/// The directory of the repository on GitHub's machines, from which it counts paths.
const WORKSPACE: &str = "GITHUB_WORKSPACE";

/// Writes the report where it is wanted, and says whether that could be done. What cannot be written to the log file goes to
/// standard error, so that no report is lost.
pub(super) fn show(args: &Args, report: &Report, run: &Run, process: u32) -> bool {
    let text = render(args, report, run, args.log_file.is_some());
    match args.log_file.as_ref().map(|file| write(file, process, &text)) {
        Some(Ok(path)) => {
            let found = report.findings.len();
            output::complain(
                &report::plural(found as u64, "finding"),
                &format!("; the report is in {}", path.display()),
            );
        }
        Some(Err(error)) => {
            output::error(&error);
            print(&render(args, report, run, false));
        }
        None => print(&text),
    }
    let explanations = tools::explanations();
    let summary = || report::json::summary(report, run);
    let svg = || match report.is_sweep() {
        true => report::sweep_svg(report),
        false => report::svg(report, &mut sources(args)),
    };
    let html = || report::html(report, run, &explanations, &mut sources(args));
    let sarif = || report::sarif(report, run, &explanations, &mut project_sources(args));
    let junit = || report::junit(report, run, &look(args, false), &mut project_sources(args));
    let files: [(_, &dyn Fn() -> String); 5] = [
        (&args.summary, &summary),
        (&args.svg, &svg),
        (&args.html, &html),
        (&args.sarif, &sarif),
        (&args.junit, &junit),
    ];
    let mut is_written = true;
    for (file, text) in files {
        if let Some(file) = file
            && let Err(error) = write(file, process, &text())
        {
            output::error(&error);
            is_written = false;
        }
    }
    is_written
}

/// The report for the terminal or the log file.
fn render(args: &Args, report: &Report, run: &Run, to_file: bool) -> String {
    match args.format {
        Format::Json => report::json::lines(report, run),
        Format::Text => report::render(report, run, &look(args, !to_file), &mut sources(args)),
        Format::Github => {
            let look = look(args, !to_file);
            report::github(report, run, &look, &mut project_sources(args), &token())
        }
    }
}

fn look(args: &Args, to_terminal: bool) -> Look {
    let color = match args.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => to_terminal && output::has_colors(),
    };
    Look {
        color,
        most_findings: if args.print_limit == 0 { usize::MAX } else { args.print_limit },
        most_callers: if args.num_callers_host == 0 { usize::MAX } else { args.num_callers_host },
        with_suppressions: args.gen_suppressions,
    }
}

/// The user's source files, with paths as they are seen from here.
pub(super) fn sources(args: &Args) -> Sources {
    let here = std::env::current_dir().ok();
    Sources::below(here.into_iter().chain(args.source_root.iter().cloned()))
}

/// The same for readers that know the repository: with paths as they are seen from its top, if this is on GitHub's machines.
fn project_sources(args: &Args) -> Sources {
    let here = std::env::current_dir().ok();
    let workspace = std::env::var_os(WORKSPACE).map(PathBuf::from);
    let is_inside = |workspace: &PathBuf| here.as_ref().is_some_and(|here| here.starts_with(workspace));
    match workspace.filter(|workspace| workspace != Path::new("") && is_inside(workspace)) {
        Some(top) => sources(args).of_project(&top),
        None => sources(args),
    }
}

/// Something that the program cannot guess.
fn token() -> String {
    let mut random = [0; 16];
    // Without it, the program could end what is between two tokens, and no more.
    let _ = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random));
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write(file: &FilePattern, process: u32, text: &str) -> Result<PathBuf> {
    let path = file.path(process);
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

fn print(text: &str) {
    // Nobody can be told that standard error is gone.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
