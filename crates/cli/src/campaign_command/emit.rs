//! `campaign emit`: files for the launchers that run shards.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use campaign::{Container, Launcher};
use clap::ValueEnum;

use super::read_manifest;
use crate::output;

/// Arguments of `warpgrind campaign emit`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Who runs the shards.
    #[arg(value_enum)]
    launcher: Name,
    /// What `campaign plan` wrote.
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    /// How many shards.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    shards: u64,
    /// The directory of the campaign.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The image that has warpgrind, the program and its inputs; for Kubernetes.
    #[arg(long, value_name = "IMAGE", default_value = concat!("warpgrind:", env!("CARGO_PKG_VERSION")))]
    image: String,
    /// The claim of the volume that is mounted where the directory of the campaign is; for Kubernetes.
    #[arg(long, value_name = "NAME", default_value = "warpgrind")]
    claim: String,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Name {
    /// A job array: `sbatch FILE`.
    Slurm,
    /// An Indexed Job: `kubectl apply -f FILE`.
    Kubernetes,
    /// GNU parallel: `sh FILE`.
    Parallel,
}

/// Prints the file.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let manifest = read_manifest(&args.manifest)?;
    if args.shards > manifest.parts() {
        let parts = manifest.parts();
        output::complain(
            &format!("there are only {parts} parts"),
            ", so some shards have nothing to do: choose fewer, or plan with a smaller --part",
        );
    }
    let command = std::env::current_exe().context("where this command is cannot be told")?;
    let launcher = match args.launcher {
        Name::Slurm => Launcher::Slurm,
        Name::Kubernetes => Launcher::Kubernetes,
        Name::Parallel => Launcher::Parallel,
    };
    let container = Container { image: &args.image, claim: &args.claim };
    let (path, out) = (absolute(&args.manifest)?, absolute(&args.out)?);
    let file = launcher.file(&manifest, &text(&command)?, &text(&path)?, &text(&out)?, args.shards, &container);
    output::print(&file)?;
    Ok(ExitCode::SUCCESS)
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("where {} is cannot be told", path.display()))
}

/// What is in a script is text on one line.
fn text(path: &Path) -> Result<String> {
    match path.to_str().filter(|path| !path.chars().any(char::is_control)) {
        Some(text) => Ok(text.to_owned()),
        None => bail!("{} cannot be in a script: give it another name", path.display()),
    }
}
