//! `warpgrind prove`: what is known of a launch before it runs.

mod argument;
mod launch;

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use ptx::analysis::footprint::{Footprint, Kernel, Reason, Verdict};
use ptx::diagnostic::{Severity, printable};
use ptx::ir::{FuncId, Module};
use report::{demangled, short_name};
use serde::Serialize;

use self::launch::LaunchArguments;
use crate::{input, output};

/// Arguments of `warpgrind prove`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A PTX file, or `-` for standard input.
    path: PathBuf,
    /// The kernel, by its name in the PTX or in the source; not needed if there is only one.
    #[arg(long)]
    kernel: Option<String>,
    /// Blocks of the grid: 64, or 64x4, or 64x4x2.
    #[arg(long, value_parser = launch::extents, default_value = "1")]
    grid: [u32; 3],
    /// Threads of a block: 256, or 16x16.
    #[arg(long, value_parser = launch::extents, default_value = "1")]
    block: [u32; 3],
    /// Bytes of dynamic shared memory.
    #[arg(long, default_value_t = 0)]
    shared: u32,
    /// What the kernel is given: buffers as `NAME:TYPE[LENGTH]`, numbers as NAME:TYPE=VALUE, structures as
    /// NAME:TYPE(LENGTH)={VALUES}, and NAME alone for a buffer that an earlier argument is.
    ///
    /// `x:f32[1024],y:f32[1024],n:s32=1024,a:f32=2`. Types are u8 to u64, s8 to s64, b8 to b64, f32 and f64.
    #[arg(long, default_value = "", verbatim_doc_comment)]
    args: String,
    /// What must be proved for exit code 0.
    #[arg(long, value_enum, default_value_t = Required::All)]
    require: Required,
    /// Print JSON, one object.
    #[arg(long)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Required {
    /// That all accesses are inside of their objects, and aligned.
    Bounds,
    /// That no two threads conflict.
    Races,
    /// Both.
    All,
}

/// The PTX could not be read.
const NOT_READ: u8 = 87;

/// A launch as JSON.
#[derive(Serialize)]
struct Proof<'a> {
    r#type: &'static str,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    /// Whether all accesses are inside of their objects.
    bounds: bool,
    /// Whether no two threads conflict.
    races: bool,
    reasons: Vec<JsonReason>,
}

/// Why something is not proved, as JSON.
#[derive(Serialize)]
struct JsonReason {
    /// `bounds` or `races`.
    question: &'static str,
    /// One sentence.
    text: String,
    instruction: String,
    /// Line of the PTX.
    ptx_line: u32,
    file: Option<String>,
    line: Option<u32>,
}

/// Answers.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let source = input::read(&args.path)?;
    output::show(&source, &source.parsed.diagnostics);
    if source.parsed.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Ok(ExitCode::from(NOT_READ));
    }
    let module = &source.parsed.module;
    let id = find_kernel(module, args.kernel.as_deref())?;
    let launch = LaunchArguments::new(module, id, args)?;
    let kernel = Kernel::of(module, id).context("the kernel is declared, but has no body")?;
    let footprint = kernel.footprint(&launch.launch());
    if args.json {
        output::print_json(&json(module, id, args, &launch, &footprint))?;
    } else {
        output::print(&text(module, id, args, &launch, &footprint))?;
    }
    let (bounds, races) = (footprint.bounds.is_proved(), footprint.races.is_proved());
    let is_proved = match args.require {
        Required::Bounds => bounds,
        Required::Races => races,
        Required::All => bounds && races,
    };
    Ok(ExitCode::from(u8::from(!is_proved)))
}

fn find_kernel(module: &Module, wanted: Option<&str>) -> Result<FuncId> {
    let name = |id: FuncId| module.text(module.functions[id].name);
    let kernels: Vec<FuncId> = module
        .functions
        .iter()
        .filter(|(_, function)| function.is_entry() && function.body.is_some())
        .map(|(id, _)| id)
        .collect();
    let names = || kernels.iter().map(|&id| demangled(name(id))).collect::<Vec<_>>().join(", ");
    let Some(wanted) = wanted else {
        return match kernels[..] {
            [only] => Ok(only),
            [] => bail!("there is no kernel in the file"),
            _ => bail!("there are several kernels; say with --kernel which one: {}", names()),
        };
    };
    if let Some(&exact) = kernels.iter().find(|&&id| name(id) == wanted) {
        return Ok(exact);
    }
    let is_meant = |id: &&FuncId| demangled(name(**id)) == wanted || short_name(name(**id)) == wanted;
    let meant: Vec<FuncId> = kernels.iter().filter(is_meant).copied().collect();
    match meant[..] {
        [only] => Ok(only),
        [] if kernels.is_empty() => bail!("there is no kernel in the file"),
        [] => bail!("there is no kernel `{wanted}`; there are: {}", names()),
        _ => bail!("several kernels are called `{wanted}`; name one as the PTX does"),
    }
}

fn text(module: &Module, id: FuncId, args: &Args, launch: &LaunchArguments, footprint: &Footprint) -> String {
    let mut text = String::new();
    let name = demangled(module.text(module.functions[id].name));
    let extents = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
    let line = format!("{name}, grid {}, block {}", extents(args.grid), extents(args.block));
    let _ = writeln!(text, "{}", printable(&line));
    for (question, verdict) in [("in bounds", &footprint.bounds), ("race-free", &footprint.races)] {
        let answer = match verdict {
            Verdict::Proved => "proved, whatever memory holds",
            Verdict::NotProved(_) => "not proved",
        };
        let _ = writeln!(text, "  {question}: {answer}");
        for reason in verdict.reasons() {
            let _ = writeln!(text, "    {}", printable(&reason.in_words(|place| launch.name(place))));
        }
    }
    text
}

fn json<'a>(module: &'a Module, id: FuncId, args: &Args, launch: &LaunchArguments, footprint: &Footprint) -> Proof<'a> {
    let reason = |question: &'static str, reason: &Reason| JsonReason {
        question,
        text: reason.in_words(|place| launch.name(place)),
        instruction: reason.site.instruction.clone(),
        ptx_line: reason.site.line,
        file: reason.site.source.as_ref().map(|source| source.0.clone()),
        line: reason.site.source.as_ref().map(|source| source.1),
    };
    let bounds = footprint.bounds.reasons().iter().map(|it| reason("bounds", it));
    let races = footprint.races.reasons().iter().map(|it| reason("races", it));
    Proof {
        r#type: "proof",
        kernel: module.text(module.functions[id].name),
        grid: args.grid,
        block: args.block,
        shared: args.shared,
        bounds: footprint.bounds.is_proved(),
        races: footprint.races.is_proved(),
        reasons: bounds.chain(races).collect(),
    }
}
