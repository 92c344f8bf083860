//! `campaign report`: what came of the trials.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use campaign::{Store, Summary, page};

use crate::output;

/// Arguments of `warpgrind campaign report`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The directory of the campaign.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print a JSON line for each kernel, model and variant, which depend on the rows alone.
    #[arg(long)]
    json: bool,
    /// Where the page goes; `report.html` in the directory of the campaign if nothing is said.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
}

/// Prints the report.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let (store, manifest) = Store::open(&args.out)?;
    let summary = Summary::of(&store, &manifest)?;
    for file in &summary.left_out {
        output::complain(&format!("not counted: {file}"), "");
    }
    if summary.disagreeing > 0 {
        output::complain(
            &format!("{} rows are there twice and disagree", summary.disagreeing),
            ": `warpgrind campaign check` says which",
        );
    }
    if summary.rows < summary.expected {
        let missing = summary.expected - summary.rows;
        output::complain(&format!("{missing} trials are missing"), ": `warpgrind campaign check` says which");
    }
    if args.json {
        output::print(&summary.json())?;
    } else {
        let path = args.html.clone().unwrap_or_else(|| args.out.join("report.html"));
        std::fs::write(&path, page(&summary)).with_context(|| format!("writing {}", path.display()))?;
        output::print(&summary.text())?;
        output::complain("the page is", &format!(" {}", path.display()));
    }
    Ok(ExitCode::from(u8::from(summary.disagreeing > 0)))
}
