//! The program that a command runs: how the device is to be, where the program is, and what makes the loader put our
//! libraries in front of CUDA's.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum, ValueHint};
use gpu::Model;
use program::Kind;
use settings::Settings;

use crate::{gpu_driver_file, installation, output, sanitizer};

/// Flags of all commands that run programs, and the program.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "How the program runs")]
pub(crate) struct Target {
    /// What runs the kernels.
    #[arg(long, value_enum, default_value_t = Device::Cpu)]
    device: Device,
    /// With `--device gpu`, NVIDIA's driver: its `libcuda.so.1`; by default the one that is installed.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    driver: Option<PathBuf>,
    /// The GPU that the program sees, such as `a100`: its name, compute capability, multiprocessors, memory and limits;
    /// several such as `a100,t4` for as many devices. What the program takes of the memory must be there on this machine.
    #[arg(long, value_name = "MODEL", value_delimiter = ',', value_parser = Model::parse)]
    gpu: Vec<&'static Model>,
    /// Memory of each device, such as `4G` or `512MiB`; that of `--gpu`, or three quarters of the machine's by default.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    device_memory: Option<u64>,
    /// After how many seconds a kernel is ended with an error; never by default.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    launch_timeout: Option<u64>,
    /// The compute capability that the program sees, such as `9.0`.
    #[arg(long, value_name = "X.Y", value_parser = parse_compute_capability)]
    compute_capability: Option<u32>,
    /// How many threads run the blocks of a kernel; as many as there are processors by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Compile kernels for a processor that can do less than this one, to see what they cost there.
    #[arg(long, value_name = "LEVEL", value_parser = ["x86-64-v2", "x86-64-v3", "x86-64-v4"])]
    cpu: Option<String>,
    /// Who runs next where several warps of a kernel can; `random` and `pct` run kernels on one thread.
    #[arg(long, value_enum, default_value_t = Schedule::InOrder)]
    schedule: Schedule,
    /// Let another warp run before any access of the program to memory; with `--schedule random` or `pct`.
    #[arg(long)]
    preempt: bool,
    /// Run kernels on one thread, in an order that depends on this number only, and only with `--schedule random` or `pct`.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many threads of a warp run at once.
    #[arg(long, value_enum, value_name = "1|32", hide_possible_values = true)]
    width: Option<Width>,
    /// After how many instructions of a thread a kernel is ended with an error; never by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    instruction_budget: Option<u64>,
    /// Neither take compiled kernels from the disk nor keep them there (see `warpgrind cache`).
    #[arg(long)]
    no_cache: bool,
    /// How many bytes of compiled kernels are kept on disk, such as `200M`; 1G by default.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, conflicts_with = "no_cache")]
    cache_size: Option<u64>,
    /// Whether programs that the program starts run in the same way.
    #[arg(long, value_enum, value_name = "YES|NO", default_value_t = Answer::Yes)]
    trace_children: Answer,
    /// Do not read warpgrind.toml, which has defaults for flags.
    #[arg(long)]
    no_config: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    #[arg(value_hint = ValueHint::CommandWithArguments, help_heading = None)]
    program: Vec<OsString>,
    /// The directory that it runs in, if that is another one.
    #[arg(skip)]
    directory: Option<PathBuf>,
}

/// A target alone, as [`Target::from_words`] reads it.
#[derive(clap::Parser, Debug)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Words {
    #[command(flatten)]
    target: Target,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Device {
    /// The processor.
    Cpu,
    /// The first GPU of the machine, by NVIDIA's driver.
    Gpu,
}

/// Who runs next where several warps of a kernel can.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Schedule {
    /// Who has waited longest.
    InOrder,
    /// Anybody, as the seed says.
    Random,
    /// Who has the highest priority; priorities change at two moments that the seed chooses.
    Pct,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Width {
    #[value(name = "1")]
    Thread,
    #[value(name = "32")]
    Warp,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Yes,
    No,
}

/// A machine with more GPUs has a switch between them, and programs for it have one process for each.
const MOST_GPUS: usize = 16;

/// How a flag names GPUs.
fn keys(gpus: &[&Model]) -> Vec<String> {
    gpus.iter().map(|model| model.key.to_owned()).collect()
}

/// What a shell returns for a program that is there and cannot be run.
const CANNOT_RUN: u8 = 126;
/// What a shell returns for a program that is not there.
const NOT_FOUND: u8 = 127;

/// The library that NVTX loads.
const NVTX: &str = "NVTX_INJECTION64_PATH";
/// Whether CuPy compiles kernels to PTX.
const CUPY_PTX: &str = "CUPY_COMPILE_WITH_PTX";

/// The library that the user has NVTX load; not that of a run that we are started in.
fn nvtx_of_user() -> Option<OsString> {
    let outer = Settings::from_environment().ok().flatten().and_then(|settings| settings.library);
    std::env::var_os(NVTX).filter(|theirs| outer.as_ref().is_none_or(|outer| outer != theirs))
}

impl Target {
    /// What other processes, on other machines, make the same of: [`Target::flags`], the program, its arguments, and its directory.
    pub(crate) fn from_words(flags: &[String], program: Vec<OsString>, directory: PathBuf) -> Result<Self> {
        let words = flags.iter().map(OsString::from).chain(["--".into()]).chain(program);
        let Words { target } = Words::try_parse_from(words).context("the flags of the device")?;
        target.check_flags().context("the flags of the device")?;
        Ok(Self { directory: Some(directory), ..target })
    }

    /// The flags that describe the device, but the seed and where kernels are kept.
    pub(crate) fn flags(&self) -> Vec<String> {
        let Self { device, device_memory, launch_timeout, compute_capability, threads, cpu, schedule, .. } = self;
        let Self { driver, gpu, preempt, width, instruction_budget, trace_children, .. } = self;
        // These do not change what comes of a trial, or are told otherwise.
        let Self { seed: _, no_cache: _, cache_size: _, program: _, directory: _, .. } = self;
        let name = |value: Option<clap::builder::PossibleValue>| value.map(|value| value.get_name().to_owned());
        let values = [
            ("device", name(device.to_possible_value())),
            ("driver", driver.as_ref().map(|file| file.display().to_string())),
            ("gpu", (!gpu.is_empty()).then(|| keys(gpu).join(","))),
            ("device-memory", device_memory.map(|bytes| bytes.to_string())),
            ("launch-timeout", launch_timeout.map(|seconds| seconds.to_string())),
            ("compute-capability", compute_capability.map(|number| format!("{}.{}", number / 10, number % 10))),
            ("threads", threads.map(|threads| threads.to_string())),
            ("cpu", cpu.clone()),
            ("schedule", name(schedule.to_possible_value())),
            ("width", name(width.and_then(|width| width.to_possible_value()))),
            ("instruction-budget", instruction_budget.map(|budget| budget.to_string())),
            ("trace-children", name(trace_children.to_possible_value())),
        ];
        let mut flags: Vec<String> =
            values.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?))).collect();
        flags.extend(preempt.then(|| "--preempt".to_owned()));
        flags
    }

    /// How many threads of a warp run at once.
    pub(crate) fn width(&self) -> u32 {
        if self.width == Some(Width::Thread) { 1 } else { 32 }
    }

    /// Where the library is that is loaded into programs.
    pub(crate) fn library() -> Result<PathBuf> {
        Ok(Libraries::find()?.cuda)
    }

    /// With another program, or other arguments.
    pub(crate) fn with_program(&self, program: Vec<OsString>) -> Self {
        Self { program, ..self.clone() }
    }

    /// With this seed.
    pub(crate) fn with_seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// The program and its arguments.
    pub(crate) fn program(&self) -> &[OsString] {
        &self.program
    }

    /// The seed, if the user gave one.
    pub(crate) fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Whether a GPU runs the kernels.
    pub(crate) fn is_on_gpu(&self) -> bool {
        self.device == Device::Gpu
    }

    /// Whether the flags go together.
    pub(crate) fn check_flags(&self) -> Result<(), clap::Error> {
        self.check_flags_with(self.seed)
    }

    /// The same for a command that makes something else from the seed, too, and needs no order of a GPU for it.
    pub(crate) fn check_flags_of_trials(&self) -> Result<(), clap::Error> {
        self.check_flags_with(self.seed.filter(|_| !self.is_on_gpu()))
    }

    /// Whether the flags go together, with the seed of the order in which kernels run.
    fn check_flags_with(&self, seed: Option<u64>) -> Result<(), clap::Error> {
        let wrong = |words: String| Err(clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, words + "\n"));
        if self.gpu.len() > MOST_GPUS {
            return wrong(format!("`--gpu` names {} GPUs, and {MOST_GPUS} are the most: name fewer", self.gpu.len()));
        }
        if self.device == Device::Cpu && self.driver.is_some() {
            return wrong("`--driver` is for `--device gpu`: add it, or leave `--driver` out".to_owned());
        }
        if let (Device::Gpu, Some(flag)) = (self.device, self.flag_of_cpu(seed)) {
            return wrong(format!("`{flag}` is for the CPU device, and `--device gpu` does not have it: leave it out"));
        }
        if self.preempt && self.schedule == Schedule::InOrder {
            return wrong(
                "`--preempt` chooses at random who is preempted: add `--schedule random` or `--schedule pct`"
                    .to_owned(),
            );
        }
        let flag = match self.schedule {
            Schedule::InOrder if seed.is_none() => return Ok(()),
            Schedule::InOrder => "--seed",
            Schedule::Random => "--schedule random",
            Schedule::Pct => "--schedule pct",
        };
        match self.threads {
            Some(threads) if threads > 1 => wrong(format!(
                "`{flag}` runs kernels on one thread, and `--threads {threads}` on {threads}: leave one of them out"
            )),
            _ => Ok(()),
        }
    }

    /// A flag that a GPU cannot do, if there is one.
    fn flag_of_cpu(&self, seed: Option<u64>) -> Option<&'static str> {
        let flags = [
            ("--gpu", !self.gpu.is_empty()),
            ("--launch-timeout", self.launch_timeout.is_some()),
            ("--compute-capability", self.compute_capability.is_some()),
            ("--threads", self.threads.is_some()),
            ("--cpu", self.cpu.is_some()),
            ("--schedule", self.schedule != Schedule::InOrder),
            ("--seed", seed.is_some()),
            ("--width", self.width.is_some()),
            ("--instruction-budget", self.instruction_budget.is_some()),
        ];
        flags.into_iter().find(|(_, is_set)| *is_set).map(|(flag, _)| flag)
    }

    /// The driver of the GPU that is to run kernels, if one is.
    fn driver(&self) -> Result<Option<PathBuf>> {
        match self.device {
            Device::Cpu => Ok(None),
            Device::Gpu => gpu_driver_file::find(self.driver.as_deref()).map(Some),
        }
    }

    /// Whether programs that the program starts run in the same way.
    pub(crate) fn trace_children(&mut self, answer: Answer) {
        self.trace_children = answer;
    }

    /// The command that runs it with our libraries in front, and what the flags ask of these, which is still to be set
    /// ([`set`]). If there is none, the user has been told why, and this is the exit code that a shell would have.
    pub(crate) fn command(&self) -> Result<(Command, Settings), u8> {
        let path = find(&self.program[0]).map_err(|error| {
            output::error(&error);
            NOT_FOUND
        })?;
        check(&path).and_then(|()| self.command_for(&path)).map_err(|error| {
            output::error(&error);
            CANNOT_RUN
        })
    }

    /// Has NVTX tell our library what the program says, unless the user has it tell another one.
    pub(crate) fn set_nvtx(&self, command: &mut Command, settings: &Settings) {
        if let Some(theirs) = nvtx_of_user() {
            let why =
                format!(" ({}), so heaps of the program's own that NVTX knows of are not checked", theirs.display());
            output::complain(&format!("{NVTX} is set"), &why);
            return;
        }
        if let Some(ours) = &settings.library {
            command.env(NVTX, ours);
        }
    }

    /// Says that the system refused to run it. Returns the exit code.
    pub(crate) fn refused(&self, error: std::io::Error) -> u8 {
        let name = Path::new(&self.program[0]).display().to_string();
        output::error(&anyhow::Error::new(error).context(format!("{name} cannot be run")));
        CANNOT_RUN
    }

    fn command_for(&self, path: &Path) -> Result<(Command, Settings)> {
        let libraries = Libraries::find()?;
        let mut command = Command::new(path);
        command.arg0(&self.program[0]).args(&self.program[1..]);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        libraries.set(&mut command)?;
        sanitizer::set_options(&mut command, path);
        if nvtx_of_user().is_none() {
            command.env_remove(NVTX);
        }
        // Else CuPy compiles to machine code. What it keeps of one it does not take for the other.
        if std::env::var_os(CUPY_PTX).is_none() {
            command.env(CUPY_PTX, "1");
        }
        let settings = Settings {
            library: Some(libraries.cuda),
            trace_children: self.trace_children == Answer::Yes,
            device: settings::Device {
                driver: self.driver()?,
                gpus: keys(&self.gpu),
                memory: self.device_memory,
                launch_timeout: self.launch_timeout,
                compute_capability: self.compute_capability,
                threads: self.threads,
                cpu: self.cpu.clone(),
                schedule: match self.schedule {
                    Schedule::InOrder => None,
                    Schedule::Random => Some(settings::Schedule::Random),
                    Schedule::Pct => Some(settings::Schedule::Pct),
                },
                preempt: self.preempt,
                seed: self.seed,
                width: self.width.map(|width| match width {
                    Width::Thread => 1,
                    Width::Warp => 32,
                }),
                instruction_budget: self.instruction_budget,
                cache_size: if self.no_cache { Some(0) } else { self.cache_size },
            },
            tools: settings::Tools::default(),
        };
        Ok((command, settings))
    }
}

/// Hands settings over to the program, in place of those of a run that we are started in.
pub(crate) fn set(command: &mut Command, settings: &Settings) {
    command.env(settings::VARIABLE, settings.encode());
}

/// The program as a shell would find it.
pub(crate) fn find(name: &OsStr) -> Result<PathBuf> {
    let is_program = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return match std::fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!("there is no {}", path.display()),
            _ => Ok(path),
        };
    }
    let directories = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let found = std::env::split_paths(&directories).map(|directory| directory.join(name)).find(|path| is_program(path));
    found.with_context(|| {
        let name = Path::new(name).display();
        let hint = if Path::new(".").join(name.to_string()).exists() {
            format!("; write ./{name} for the one here")
        } else {
            String::new()
        };
        format!("there is no program `{name}` in PATH{hint}")
    })
}

/// Says what to do about a program that cannot be run in this way.
fn check(path: &Path) -> Result<()> {
    let name = path.display();
    let status = std::fs::metadata(path).with_context(|| format!("{name} cannot be run"))?;
    if status.is_dir() {
        bail!("{name} is a directory");
    }
    if status.permissions().mode() & 0o111 == 0 {
        bail!("{name} is not executable; `chmod +x {name}` makes it so");
    }
    // A program that may be executed but not read is left to the system.
    let Ok(file) = File::open(path) else { return Ok(()) };
    let kind = Kind::following_scripts(&file, |interpreter| File::open(OsStr::from_bytes(interpreter.to_bytes())));
    match kind {
        Ok(Kind::Bits32) => bail!("{name} is a program of 32 bits; CUDA and Warpgrind need 64: compile it with -m64"),
        Ok(Kind::Musl) => bail!("{name} is linked with musl, and CUDA and Warpgrind need glibc: link it with glibc"),
        Ok(Kind::Static { has_kernels: true }) => {
            bail!("{name} is linked statically, so that nothing can get in front of it: link it without -static")
        }
        Ok(Kind::OtherProcessor(_)) => bail!("{name} is a program for another processor; compile it for x86-64"),
        Err(error) => {
            Err(error).with_context(|| format!("the interpreter that the first line of {name} asks for cannot be read"))
        }
        Ok(Kind::Dynamic | Kind::Static { .. } | Kind::Script(_) | Kind::Unknown) => Ok(()),
    }
}

/// The libraries that go in front of CUDA's.
struct Libraries {
    /// What is loaded into every process.
    start: PathBuf,
    /// What stands for CUDA's libraries.
    cuda: PathBuf,
}

impl Libraries {
    const START: &str = "libwarpgrind_start.so";
    const CUDA: &str = "libwarpgrind_cuda.so";

    fn find() -> Result<Self> {
        let directories = installation::directories()?;
        for directory in &directories {
            let libraries = Self { start: directory.join(Self::START), cuda: directory.join(Self::CUDA) };
            if libraries.start.is_file() && libraries.cuda.is_file() {
                // Relative parts would not survive that the program changes its directory.
                let absolute =
                    |path: PathBuf| path.canonicalize().with_context(|| format!("cannot read {}", path.display()));
                return Ok(Self { start: absolute(libraries.start)?, cuda: absolute(libraries.cuda)? });
            }
        }
        let [beside, installed] = directories;
        bail!(
            "{} and {} are neither in {} nor in {}; `cargo build --release` makes them, `scripts/install` installs them",
            Self::START,
            Self::CUDA,
            beside.display(),
            installed.display()
        )
    }

    /// Sets the variables that make the loader load them, in front of the user's own.
    fn set(&self, command: &mut Command) -> Result<()> {
        let start = self.start.as_os_str();
        if start.as_bytes().contains(&b':') {
            bail!(
                "{} has a colon in its path, which the loader takes for the end; install it elsewhere",
                self.start.display()
            );
        }
        command.env("LD_AUDIT", in_front("LD_AUDIT", b":", start));
        // A space would end the path here. The auditing library answers for this name with its own path, whatever the
        // directory; but there must be one: under AT_SECURE the loader complains of names without one.
        let is_plain = !start.as_bytes().contains(&b' ');
        let preload = if is_plain { start.to_owned() } else { Path::new("/warpgrind").join(Self::START).into() };
        command.env("LD_PRELOAD", in_front("LD_PRELOAD", b": ", &preload));
        Ok(())
    }
}

/// The value of a list, with an entry in front; none of a run that we are started in, which is replaced by this one.
fn in_front(name: &str, separators: &[u8], entry: &OsStr) -> OsString {
    let theirs = std::env::var_os(name).unwrap_or_default();
    let theirs = theirs.as_bytes().split(|byte| separators.contains(byte));
    let theirs = theirs.filter(|theirs| !theirs.is_empty() && !theirs.ends_with(Libraries::START.as_bytes()));
    let mut list = entry.as_bytes().to_vec();
    for entry in theirs {
        list.push(b':');
        list.extend_from_slice(entry);
    }
    OsStr::from_bytes(&list).to_owned()
}

/// The size of a device.
fn parse_size(text: &str) -> Result<u64, String> {
    match parse_bytes(text)? {
        bytes if bytes >= 64 << 20 => Ok(bytes),
        _ => Err("a device has at least 64M".to_owned()),
    }
}

/// `4G`, `512MiB` or `1000000`: powers of 1024.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_end_matches("iB").trim_end_matches('B') {
        "" => 0,
        "K" | "k" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(format!("`{unit}` is not a unit; K, M, G and T are")),
    };
    let number: u64 = number.parse().map_err(|_| "it begins with a number, such as 4G".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "there is no room for so much".to_owned())
}

/// `8.6` as 86.
fn parse_compute_capability(text: &str) -> Result<u32, String> {
    let parsed = text.split_once('.').and_then(|(major, minor)| {
        let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        ((5..=99).contains(&major) && minor <= 9).then_some(major * 10 + minor)
    });
    parsed.ok_or_else(|| format!("`{text}` is not a compute capability between 5.0 and 99.9, such as 8.6"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("4G"), Ok(4 << 30));
        assert_eq!(parse_size("512MiB"), Ok(512 << 20));
        assert_eq!(parse_size("100000000"), Ok(100_000_000));
        for wrong in ["", "G", "4X", "1K", "-1", "99999999999T", "1.5G"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn compute_capabilities() {
        assert_eq!(parse_compute_capability("8.6"), Ok(86));
        assert_eq!(parse_compute_capability("12.0"), Ok(120));
        for wrong in ["8", "4.0", "8.10", "x.y", "8.6.1", ""] {
            assert!(parse_compute_capability(wrong).is_err(), "{wrong}");
        }
    }
}
