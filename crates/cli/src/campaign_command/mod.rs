//! `warpgrind campaign`: many trials, planned once, run in shards by whatever places processes, and read together.
//!
//! It has no scheduler, database or daemon: a shard is a pure function of the manifest and its number, so what owners of
//! machines run already is enough (`docs/campaigns.md`). The crate `campaign` has manifests and rows; here trials are run.

mod emit;
mod plan;
mod progress;
mod report;
mod run;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use campaign::{Manifest, Store};

use crate::output;

/// Arguments of `warpgrind campaign`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Runs a program without faults, and writes down what is to be tried: a manifest.
    Plan(Box<plan::Args>),
    /// Runs the trials of a shard that have not been run yet.
    ///
    /// Exits with 0 if all of them are there, and with 87 if not: run it again then.
    Run(run::Args),
    /// Prints a file for Slurm, Kubernetes or GNU parallel that runs all shards.
    Emit(emit::Args),
    /// Says which rows are missing, doubled, or disagree.
    ///
    /// Exits with 0 if there are none, and with 1 if there are.
    Check(OutDirectory),
    /// Counts what came of the trials of each kernel, model and variant.
    Report(report::Args),
}

#[derive(clap::Args, Debug)]
struct OutDirectory {
    /// The directory of the campaign.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.command {
        Command::Plan(args) => plan::run(args),
        Command::Run(args) => run::run(args),
        Command::Emit(args) => emit::run(args),
        Command::Check(args) => check(&args.out),
        Command::Report(args) => report::run(args),
    }
}

fn check(out: &Path) -> Result<ExitCode> {
    let (store, manifest) = Store::open(out)?;
    let check = campaign::check(&store, &manifest)?;
    output::print(&check.text(&manifest))?;
    Ok(ExitCode::from(u8::from(!check.is_good())))
}

/// Reads a manifest.
fn read_manifest(path: &Path) -> Result<Manifest> {
    use std::io::Read;
    let reading = || format!("reading {}", path.display());
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).with_context(reading)?;
    file.take(Manifest::MAX_BYTES + 1).read_to_end(&mut bytes).with_context(reading)?;
    Manifest::parse(&bytes).with_context(|| path.display().to_string())
}
