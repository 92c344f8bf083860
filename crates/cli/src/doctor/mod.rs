//! `warpgrind doctor`: looks at a program and the libraries it needs, or at the GPU, and says before any run what would go wrong.

mod gpu;
mod kernels;
mod objects;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use program::runtime::{Linkage, Major};
use program::{Elf, Kind, has_machine_code_only};
use ptx::diagnostic::printable;
use report::demangled;
use serde::Serialize;

use self::kernels::Container;
use crate::{CommandStatus, output, target};

/// Arguments of `warpgrind doctor`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What is to run the kernels: with `gpu`, the driver and the GPU are looked at instead of a program.
    #[arg(long, value_enum, default_value_t = target::Device::Cpu)]
    device: target::Device,
    /// With `--device gpu`, NVIDIA's driver: its `libcuda.so.1`; by default the one that is installed.
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
    /// The program, or a shared library.
    #[arg(required_unless_present = "device")]
    program: Option<OsString>,
    /// Its arguments, which are not looked at.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<OsString>,
    /// Print JSON, one object.
    #[arg(long)]
    json: bool,
}

/// What was found.
#[derive(Serialize)]
struct Report {
    program: String,
    /// Whether nothing needs to be cured.
    can_run: bool,
    /// The program and its libraries, as far as they have to do with CUDA.
    objects: Vec<Object>,
    /// Libraries that it needs and that are not on this machine.
    missing: Vec<String>,
    problems: Vec<Problem>,
}

/// A program or library.
#[derive(Serialize)]
struct Object {
    path: String,
    /// How the CUDA runtime is linked: `none`, `shared`, `static`, or `stripped`, which is static without symbols.
    runtime: &'static str,
    /// 11, 12 or 13.
    runtime_version: Option<u8>,
    /// Its kernels, as nvcc has packed them.
    containers: Vec<Container>,
}

/// Something that keeps the program from running.
#[derive(Serialize, PartialEq, Eq)]
struct Problem {
    what: String,
    cure: String,
}

const CURE_STRIPPED: &str =
    "link with `-cudart shared` (`NVCC_APPEND_FLAGS='-cudart shared' make`), or do not strip the program";
const CURE_MACHINE_CODE: &str = "compile with PTX: `-gencode arch=compute_80,code=compute_80` (`NVCC_APPEND_FLAGS='-gencode \
                                 arch=compute_80,code=compute_80' make`), or `CMAKE_CUDA_ARCHITECTURES=80-virtual`";
const CURE_VENDOR: &str =
    "there is none: it is only given away as machine code; run the parts of the program that do not use it";
const CURE_REFUSED: &str =
    "compile for an older architecture, such as `-gencode arch=compute_80,code=compute_80`, or report it";
/// What names kernels that launch kernels, in the reason for which the device refuses them.
const LAUNCHES_KERNELS: &str = "dynamic parallelism";
const CURE_LAUNCHES: &str = "launch them from the host; the other kernels of the program can run";

pub(crate) fn run(args: &Args) -> Result<CommandStatus> {
    if args.device == target::Device::Gpu {
        return gpu::run(args.driver.as_deref(), args.json);
    }
    let Some(program) = &args.program else { bail!("name the program: `warpgrind doctor ./app`") };
    let path = target::find(program)?;
    let mut report = Report {
        program: path.display().to_string(),
        can_run: false,
        objects: Vec::new(),
        missing: Vec::new(),
        problems: Vec::new(),
    };
    let runs_here = examine_kind(&path, &mut report)?;
    if runs_here {
        let objects::Objects { found, missing } = objects::of(&path)?;
        for object in &found {
            examine(object, &mut report)?;
        }
        report.problems.extend(missing.iter().filter(|name| has_machine_code_only(name)).map(|name| vendor(name)));
        report.missing = missing;
    }
    report.can_run = report.problems.is_empty();
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&text(&report))?;
    }
    Ok(if report.can_run { CommandStatus::Success } else { CommandStatus::Failure })
}

/// Whether there is anything more to be looked at.
fn examine_kind(path: &Path, report: &mut Report) -> Result<bool> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.display();
    let (what, cure) = match Kind::of(&file).with_context(|| format!("cannot read {name}"))? {
        Kind::Dynamic | Kind::Static { has_kernels: false } => return Ok(true),
        Kind::Static { has_kernels: true } => {
            // A shared library has no loader of its own, either.
            let is_library = Elf::read(&file)
                .and_then(|elf| elf.dynamic())
                .is_ok_and(|dynamic| dynamic.soname.is_some() || !dynamic.needed.is_empty());
            if is_library {
                return Ok(true);
            }
            (format!("{name} is linked statically, so that nothing can get in front of it"), "link it without -static")
        }
        Kind::Musl => (format!("{name} is linked with musl"), "link it with glibc"),
        Kind::Bits32 => (format!("{name} is a program of 32 bits"), "compile it with -m64"),
        Kind::OtherProcessor(_) => (format!("{name} is a program for another processor"), "compile it for x86-64"),
        Kind::Script(_) => (
            format!("{name} is a script: its kernels are not known before it runs"),
            "ask about the libraries that it loads, or just run it",
        ),
        Kind::Unknown => (format!("{name} is not a program"), "name the program itself"),
    };
    report.problems.push(Problem { what, cure: cure.to_owned() });
    Ok(false)
}

fn examine(path: &Path, report: &mut Report) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let context = || format!("cannot read {}", path.display());
    let elf = Elf::read(&file).with_context(context)?;
    let linkage = Linkage::of(&elf).with_context(context)?;
    let containers = kernels::of(&elf)?;
    let name = path.display().to_string();
    let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (runtime, major) = match &linkage {
        Linkage::None => ("none", None),
        Linkage::Shared(major) => ("shared", Some(*major)),
        Linkage::Static(runtime) => ("static", runtime.major),
        Linkage::Stripped => ("stripped", None),
    };
    let mut problem = |what: String, cure: &str| {
        let problem = Problem { what, cure: cure.to_owned() };
        if !report.problems.contains(&problem) {
            report.problems.push(problem);
        }
    };
    let is_vendors = has_machine_code_only(&file_name);
    if linkage == Linkage::Stripped && !is_vendors {
        problem(format!("{name} has a CUDA runtime of its own, without symbols"), CURE_STRIPPED);
    }
    if matches!(&linkage, Linkage::Static(runtime) if runtime.major.is_none()) && !is_vendors {
        problem(format!("{name} has a CUDA runtime of an unknown version of its own"), "link with `-cudart shared`");
    }
    for error in containers.iter().filter_map(|container| container.error.as_ref()) {
        problem(format!("a fatbin of {name} cannot be read: {error}"), "compile it again");
    }
    // What `nvcc -rdc=true` has linked is machine code in one container, and PTX in others.
    let with_ptx: BTreeSet<&str> =
        containers.iter().flat_map(|container| &container.kernels).map(|kernel| kernel.name.as_str()).collect();
    let without_ptx: BTreeSet<&str> =
        containers.iter().flat_map(|container| &container.machine_code_kernels).map(String::as_str).collect();
    let without_ptx: Vec<&str> = without_ptx.difference(&with_ptx).copied().collect();
    match without_ptx[..] {
        [] if linkage == Linkage::Stripped && is_vendors => problem(vendor(&name).what, CURE_VENDOR),
        [] => {}
        _ if is_vendors => problem(vendor(&name).what, CURE_VENDOR),
        [kernel] => problem(
            format!("the kernel {} of {name} has no PTX, only machine code", demangled(kernel)),
            CURE_MACHINE_CODE,
        ),
        [kernel, ref more @ ..] => {
            let (kernel, more) = (demangled(kernel), more.len());
            problem(
                format!("the kernel {kernel} and {more} more of {name} have no PTX, only machine code"),
                CURE_MACHINE_CODE,
            );
        }
    }
    for kernel in containers.iter().flat_map(|container| &container.kernels) {
        for reason in &kernel.refused {
            let cure = if reason.contains(LAUNCHES_KERNELS) { CURE_LAUNCHES } else { CURE_REFUSED };
            problem(format!("the kernel {} cannot run: {reason}", demangled(&kernel.name)), cure);
        }
    }
    if runtime != "none" || !containers.is_empty() {
        report.objects.push(Object { path: name, runtime, runtime_version: major.map(Major::number), containers });
    }
    Ok(())
}

fn vendor(name: &str) -> Problem {
    Problem {
        what: format!("{name} has its kernels as machine code only, which cannot run here"),
        cure: CURE_VENDOR.to_owned(),
    }
}

/// How many kernels are named.
const SHOWN_KERNELS: usize = 10;

fn text(report: &Report) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{}", printable(&text)).expect("writing to a string");
    for object in &report.objects {
        line(object.path.clone());
        let version = object.runtime_version.map_or(String::new(), |version| format!(" {version}"));
        line(match object.runtime {
            "shared" => format!("  CUDA runtime{version}, a shared library: ours takes its place"),
            "static" => format!("  CUDA runtime{version}, linked into it, with symbols: its functions are redirected"),
            "stripped" => "  CUDA runtime, linked into it, without symbols".to_owned(),
            _ => "  no CUDA runtime of its own".to_owned(),
        });
        show_kernels(object, &mut line);
    }
    if report.objects.is_empty() && report.problems.is_empty() {
        line(format!(
            "{} and its libraries have neither kernels nor a CUDA runtime; it may load them later",
            report.program
        ));
    }
    for name in &report.missing {
        line(format!("the library {name}, which it needs, is not on this machine"));
    }
    for problem in &report.problems {
        line(format!("problem: {}", problem.what));
        line(format!("   cure: {}", problem.cure));
    }
    if report.can_run {
        line(format!("nothing is wrong: warpgrind run {}", report.program));
    }
    out
}

fn show_kernels(object: &Object, line: &mut impl FnMut(String)) {
    let joined = |targets: &mut dyn Iterator<Item = &String>| {
        let mut targets: Vec<&str> = targets.map(String::as_str).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.join(", ")
    };
    let kernels: Vec<&str> =
        object.containers.iter().flat_map(|container| &container.kernels).map(|kernel| kernel.name.as_str()).collect();
    if !kernels.is_empty() {
        let targets = joined(&mut object.containers.iter().flat_map(|container| &container.ptx));
        line(format!(
            "  {} with PTX for {targets}:",
            if kernels.len() == 1 { "1 kernel".to_owned() } else { format!("{} kernels", kernels.len()) }
        ));
        for kernel in kernels.iter().take(SHOWN_KERNELS) {
            line(format!("    {}", demangled(kernel)));
        }
        if kernels.len() > SHOWN_KERNELS {
            line(format!("    and {} more: --json lists them", kernels.len() - SHOWN_KERNELS));
        }
    }
    let machine_code = joined(&mut object.containers.iter().flat_map(|container| &container.machine_code));
    if !machine_code.is_empty() {
        line(format!("  machine code for {machine_code}, which is not used"));
    }
}
