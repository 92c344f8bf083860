//! `warpgrind prove`: what is known of launches before they run, of all that a program makes, or of one of a kernel in a
//! PTX file.

mod argument;
mod launch;
mod program;
mod proof;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use ptx::analysis::footprint::{Footprint, Kernel, Reason};
use ptx::diagnostic::Severity;
use ptx::ir::{FuncId, Module};
use report::{demangled, short_name};

use self::launch::LaunchArguments;
use self::proof::{Proof, ProofReason};
use crate::check::NOT_CHECKED;
use crate::target::Target;
use crate::{input, output};

/// Arguments of `warpgrind prove`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The kernel, by its name in the PTX or in the source; not needed if there is only one.
    #[arg(long, help_heading = "A launch of a kernel in a PTX file")]
    kernel: Option<String>,
    /// Blocks of the grid: 64, or 64x4, or 64x4x2.
    #[arg(long, value_parser = launch::extents, help_heading = "A launch of a kernel in a PTX file")]
    grid: Option<[u32; 3]>,
    /// Threads of a block: 256, or 16x16.
    #[arg(long, value_parser = launch::extents, help_heading = "A launch of a kernel in a PTX file")]
    block: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    #[arg(long, value_name = "BYTES", help_heading = "A launch of a kernel in a PTX file")]
    shared: Option<u32>,
    /// What the kernel is given: buffers as `NAME:TYPE[LENGTH]`, numbers as NAME:TYPE=VALUE, structures as
    /// NAME:TYPE(LENGTH)={VALUES}, and NAME alone for a buffer that an earlier argument is.
    ///
    /// `x:f32[1024],y:f32[1024],n:s32=1024,a:f32=2`. Types are u8 to u64, s8 to s64, b8 to b64, f32 and f64.
    #[arg(long, verbatim_doc_comment, help_heading = "A launch of a kernel in a PTX file")]
    args: Option<String>,
    /// What must be proved for exit code 0.
    #[arg(long, value_enum, default_value_t = Required::All)]
    require: Required,
    /// Print JSON lines, an object for each kernel and shape of its launches.
    #[arg(long)]
    json: bool,
    /// The same.
    #[arg(long, value_enum, hide = true)]
    format: Option<Format>,

    /// The program and its arguments; or a PTX file, or `-` for one on standard input.
    #[command(flatten)]
    target: Target,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Text,
    Json,
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

impl Required {
    fn is_met(self, proof: &Proof) -> bool {
        match self {
            Self::Bounds => proof.bounds,
            Self::Races => proof.races,
            Self::All => proof.bounds && proof.races,
        }
    }
}

impl Args {
    fn is_json(&self) -> bool {
        self.json || self.format == Some(Format::Json)
    }

    /// Whether what is asked about is PTX, and no program.
    fn is_ptx(&self) -> bool {
        let path = Path::new(&self.target.program()[0]);
        path == Path::new("-") || path.extension() == Some(OsStr::new("ptx"))
    }

    /// The flag that only a PTX file has, if one is there.
    fn flag_of_ptx(&self) -> Option<&'static str> {
        let flags = [
            ("--kernel", self.kernel.is_some()),
            ("--grid", self.grid.is_some()),
            ("--block", self.block.is_some()),
            ("--shared", self.shared.is_some()),
            ("--args", self.args.is_some()),
        ];
        flags.into_iter().find(|(_, is_there)| *is_there).map(|(flag, _)| flag)
    }
}

/// Answers.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.is_ptx() {
        return prove_ptx(args);
    }
    if let Some(flag) = args.flag_of_ptx() {
        bail!("`{flag}` is for a PTX file; a program says itself how it launches its kernels");
    }
    program::prove(args)
}

fn prove_ptx(args: &Args) -> Result<ExitCode> {
    let [path] = args.target.program() else {
        bail!("a PTX file has no arguments; those of the kernel are for --args")
    };
    let source = input::read(Path::new(path))?;
    output::show(&source, &source.parsed.diagnostics);
    if source.parsed.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Ok(ExitCode::from(NOT_CHECKED));
    }
    let module = &source.parsed.module;
    let id = find_kernel(module, args.kernel.as_deref())?;
    let launch = LaunchArguments::new(module, id, args)?;
    let kernel = Kernel::of(module, id).context("the kernel is declared, but has no body")?;
    let proof = proof_of(module, id, &launch, &kernel.footprint(&launch.launch()));
    if args.is_json() {
        output::print_json(&proof)?;
    } else {
        output::print(&proof.text())?;
    }
    Ok(ExitCode::from(u8::from(!args.require.is_met(&proof))))
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

fn proof_of(module: &Module, id: FuncId, launch: &LaunchArguments, footprint: &Footprint) -> Proof {
    let reason = |question: &str, reason: &Reason| ProofReason {
        question: question.to_owned(),
        text: reason.in_words(|place| launch.name(place)),
        instruction: reason.site.instruction.clone(),
        ptx_line: reason.site.line,
        file: reason.site.source.as_ref().map(|source| source.0.clone()),
        line: reason.site.source.as_ref().map(|source| source.1),
    };
    let bounds = footprint.bounds.reasons().iter().map(|it| reason("bounds", it));
    let races = footprint.races.reasons().iter().map(|it| reason("races", it));
    let asked = launch.launch();
    Proof {
        r#type: "proof",
        kernel: module.text(module.functions[id].name).to_owned(),
        grid: asked.grid,
        block: asked.block,
        shared: asked.dynamic_shared,
        objects: asked.objects.iter().map(|object| object.size).collect(),
        launches: 1,
        bounds: footprint.bounds.is_proved(),
        races: footprint.races.is_proved(),
        reasons: bounds.chain(races).collect(),
    }
}
