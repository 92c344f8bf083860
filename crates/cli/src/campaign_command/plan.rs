//! `campaign plan`: runs the program without faults, and writes the manifest.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use campaign::{Build, Golden, Input, Manifest, Program, Stratum, hash_bytes, hash_file};
use clap::builder::PossibleValuesParser;
use report::{Exit, demangled};

use crate::output;
use crate::target::{self, Target};
use crate::trials::{Faults, Launch, LaunchFlags, Protection, Runner, Strikes, launches, text_of};

/// What stands for no protection.
pub(super) const NONE: &str = "none";
/// A cell has so many parts, if these do not become too small or too large: enough for some machines, and little work to lose.
const PARTS_OF_CELL: u64 = 16;
const SMALLEST_PART: u64 = 64;
const LARGEST_PART: u64 = 1024;

/// Arguments of `warpgrind campaign plan`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// What goes wrong; several with commas between them.
    #[arg(long, value_name = "MODEL", value_delimiter = ',', default_value = "single-bit", value_parser = PossibleValuesParser::new(tools::inject::models()))]
    model: Vec<String>,
    /// What kernels are tried with, with commas between them: `none`, a tool that protects, such as `rmt`, or a variant of it,
    /// such as `rmt:pair`. The same places are struck with each.
    #[arg(long, value_name = "none|TOOL[:VARIANT]", value_delimiter = ',', default_value = NONE)]
    with: Vec<String>,
    /// How many trials each kernel has, for each model and variant.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,
    /// How many trials are run by one process and kept in one file, at most; a sixteenth of --trials, between 64 and 1024, if
    /// nothing is said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=Manifest::MAX_PART))]
    part: Option<u64>,
    /// A thread that executes so many times as many instructions as it should hangs.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..))]
    patience: u64,
    /// Where the manifest goes.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// A file that the program reads, and that must stay as it is. Arguments of the program that are files are known already.
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,

    #[command(flatten)]
    launches: LaunchFlags,

    #[command(flatten)]
    target: Target,
}

/// Plans a campaign.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    args.target.check_flags().unwrap_or_else(|error| error.exit());
    if args.target.is_on_gpu() {
        bail!("campaigns are of the CPU device: `warpgrind inject --device gpu` tries faults on a GPU");
    }
    for variant in args.with.iter().filter(|variant| *variant != NONE) {
        Protection::parse(variant)?;
    }
    if let Some(model) = args.model.iter().find(|model| tools::inject::needs_protection(model)) {
        bail!(
            "{model} has other places in each variant: try it with `warpgrind inject --model {model} --with VARIANT`"
        );
    }
    let directory = std::env::current_dir().context("where we are cannot be told")?;
    let runner = match Runner::new(&args.target) {
        Ok(runner) => runner,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    let seed = runner.seed();
    let mut faults = Faults { runner, model: "", patience: args.patience, protection: None, strikes: Strikes::All };
    let mut strata = Vec::new();
    let mut outputs = Vec::new();
    let mut count_of_launches = 0;
    let mut exits = Vec::new();
    let mut models: Vec<&String> = Vec::new();
    args.model.iter().for_each(|model| models.extend((!models.contains(&model)).then_some(model)));
    // One run more if there is one model: two runs show whether the program prints the same.
    for model in models.iter().chain((models.len() == 1).then(|| &models[0])) {
        faults.model = model;
        let golden = match faults.count_places()? {
            Ok(golden) => golden,
            Err(code) => return Ok(ExitCode::from(code)),
        };
        let launches = launches(&golden)?;
        count_of_launches = launches.len() as u64;
        exits.push(golden.exit);
        let is_first = outputs.len() < models.len();
        outputs.push(hash_bytes(&golden.stdout));
        if is_first {
            golden.unchecked.iter().for_each(|gap| output::complain(gap, ""));
            strata.extend(strata_of(args, model, &launches)?);
        }
    }
    if strata.is_empty() {
        bail!("there is no place at which these models could strike: `warpgrind inject` tells more");
    }
    let Some(&Exit::Code(exit)) = exits.first() else { bail!("the program was ended by a signal") };
    if exits.iter().any(|other| *other != Exit::Code(exit)) {
        bail!("the program ends with another exit code each time, without any fault: no trial could be judged");
    }
    let is_same = outputs.iter().all(|output| *output == outputs[0]);
    if !is_same {
        output::complain("the program prints something else each time", ": what it prints is not compared");
    }
    let largest = (args.trials / PARTS_OF_CELL).clamp(SMALLEST_PART, LARGEST_PART);
    let program = target::find(&args.target.program()[0])?;
    let program = program.canonicalize().with_context(|| format!("reading {}", program.display()))?;
    let mut variants: Vec<String> = Vec::new();
    args.with.iter().for_each(|variant| variants.extend((!variants.contains(variant)).then(|| variant.clone())));
    let manifest = Manifest {
        format: Manifest::FORMAT,
        ptx: ptx_of(&program)?,
        program: Program {
            path: text(program.as_os_str())?,
            arguments: args.target.program()[1..].iter().map(text).collect::<Result<_>>()?,
            directory: text(directory.as_os_str())?,
            hash: hash_of(&program)?,
        },
        inputs: inputs(args, &program)?,
        build: build()?,
        device: args.target.flags(),
        address_map: "cpu".to_owned(),
        width: args.target.width(),
        golden: Golden { exit, stdout: is_same.then(|| outputs[0].clone()), launches: count_of_launches },
        seed,
        patience: args.patience,
        trials: args.trials,
        part: args.part.unwrap_or(largest),
        variants,
        strata,
    };
    manifest.validate().context("this campaign is too large")?;
    std::fs::write(&args.output, manifest.to_json()).with_context(|| format!("writing {}", args.output.display()))?;
    tell(&manifest);
    Ok(ExitCode::SUCCESS)
}

/// The kernels that a model can strike.
fn strata_of(args: &Args, model: &str, launches: &[Launch]) -> Result<Vec<Stratum>> {
    let chosen = args.launches.chosen(launches);
    let mut strata: Vec<Stratum> = Vec::new();
    for (_, launch) in launches.iter().enumerate().filter(|(index, _)| chosen[*index]) {
        if strata.iter().any(|stratum| stratum.kernel == launch.kernel) {
            continue;
        }
        let is_of_kernel = |index: usize, other: &Launch| chosen[index] && other.kernel == launch.kernel;
        let of_kernel = launches.iter().enumerate().filter(|(index, other)| is_of_kernel(*index, other));
        if of_kernel.map(|(_, launch)| launch.places).sum::<u64>() == 0 {
            output::complain(&demangled(&launch.kernel), &format!(" has no place at which {model} could strike"));
            continue;
        }
        let places = text_of(launches, is_of_kernel)?;
        strata.push(Stratum { kernel: launch.kernel.clone(), model: model.to_owned(), places });
    }
    Ok(strata)
}

/// The hashes of the PTX in a file.
fn ptx_of(program: &Path) -> Result<Vec<String>> {
    let bytes = std::fs::read(program).with_context(|| format!("reading {}", program.display()))?;
    let mut hashes = Vec::new();
    let magic = fatbin::MAGIC.to_le_bytes();
    let mut at = 0;
    // Wherever a container begins: what only looks like one cannot be read as one.
    while let Some(found) = bytes[at..].windows(4).position(|word| word == magic) {
        at += found;
        let container = fatbin::containers(&bytes[at..]).next();
        let Some(Ok(container)) = container else {
            at += 4;
            continue;
        };
        for entry in fatbin::read(container).unwrap_or_default() {
            if entry.kind == fatbin::Kind::Ptx
                && let Ok(text) = entry.text()
            {
                hashes.push(hash_bytes(&text));
            }
        }
        at += container.len().max(4);
    }
    hashes.sort();
    hashes.dedup();
    Ok(hashes)
}

/// The files that the program reads: those that the user names, and arguments that are files.
fn inputs(args: &Args, program: &Path) -> Result<Vec<Input>> {
    let mut paths: Vec<PathBuf> = args.input.clone();
    let arguments = args.target.program()[1..].iter().map(PathBuf::from);
    paths.extend(arguments.filter(|path| path.is_file() && path != program));
    paths.sort();
    paths.dedup();
    let hashed = |path: PathBuf| Ok(Input { hash: hash_of(&path)?, path: text(path.as_os_str())? });
    paths.into_iter().map(hashed).collect()
}

fn hash_of(path: &Path) -> Result<String> {
    hash_file(path).with_context(|| format!("reading {}", path.display()))
}

/// What runs the trials.
pub(super) fn build() -> Result<Build> {
    let library = Target::library()?;
    Ok(Build { version: env!("CARGO_PKG_VERSION").to_owned(), hash: hash_of(&library)? })
}

/// A manifest is text.
fn text(word: impl Into<OsString>) -> Result<String> {
    match word.into().into_string() {
        Ok(text) => Ok(text),
        Err(word) => bail!("{} is no UTF-8, and cannot be in a manifest: give it another name", word.display()),
    }
}

fn tell(manifest: &Manifest) {
    let kernels = manifest.strata.iter().map(|stratum| &stratum.kernel).collect::<std::collections::BTreeSet<_>>();
    output::complain(
        &format!("campaign {}", &manifest.id()[..12]),
        &format!(
            ": {} trials of {} kernels in {} cells and {} parts of at most {}",
            manifest.rows(),
            kernels.len(),
            manifest.cells(),
            manifest.parts(),
            manifest.part
        ),
    );
}
