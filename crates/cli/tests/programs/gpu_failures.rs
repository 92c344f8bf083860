//! A driver that fails, under the program `tests/gpu/failures.cu`: the program gets an error of CUDA and goes on, the user is told
//! what to do, and no report calls such a run clean.

use std::path::Path;
use std::process::Output;

use anyhow::{Context, Result, ensure};

use crate::build::Toolchain;
use crate::gpu::StandIn;
use crate::header::{Header, Variant};
use crate::run::{Installation, timeout};

/// Commands that are run.
pub(crate) const COMMANDS: [&str; 2] = ["run", "memcheck"];

/// How the driver fails.
pub(crate) const WAYS: [(&str, Check); 3] =
    [("dies in a launch", dies), ("out of memory at each allocation", out_of_memory), ("too old", too_old)];

/// What must hold for a command and the program.
pub(crate) type Check = fn(&Toolchain, &Path, &str) -> Result<()>;

/// More allocations than that, and the loop over them has no end.
const MOST_ALLOCATIONS: u32 = 500;
/// What the program ends with if a call went wrong.
const CALL_FAILED: i32 = 3;
/// What the command ends with if something was found, or was not checked.
const NOT_CLEAN: [i32; 2] = [86, 87];

/// What came of a run.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
    /// The function that found no memory.
    failed: Option<String>,
}

impl Ran {
    fn says(&self, parts: &[&str]) -> Result<()> {
        for part in parts {
            ensure!(self.stderr.contains(part), "not on standard error: {part}\n{}", self.stderr);
        }
        Ok(())
    }
}

/// Runs a command, whose driver finds this in its environment.
fn run(toolchain: &Toolchain, source: &Path, command: &[&str], mood: &[(&str, &str)]) -> Result<Ran> {
    let installation = Installation::make()?;
    let stand_in = StandIn::new(toolchain, &installation.file(""))?;
    let program = toolchain.build(source, &Header::parse("")?, Variant::Lines).context("building the program")?.program;
    let mut process = timeout(&installation);
    process.args(command).args(stand_in.flags()).arg(program);
    stand_in.set_without_assembler(&mut process);
    let failed = installation.file("failed");
    process.env("WARPGRIND_STAND_IN_FAILED", &failed);
    // As much as the program needs, so that shadow takes few pieces.
    process.env("WARPGRIND_STAND_IN_MEMORY", (128_u64 << 20).to_string());
    let Output { status, stdout, stderr } =
        process.envs(mood.iter().copied()).output().context("starting `timeout`")?;
    stand_in.check()?;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&stdout).into_owned(), String::from_utf8_lossy(&stderr).into_owned());
    let code = status.code().with_context(|| format!("it ended with {status}:\n{stdout}{stderr}"))?;
    ensure!(!stderr.contains("panicked"), "{stderr}");
    Ok(Ran { code, stdout, stderr, failed: std::fs::read_to_string(failed).ok() })
}

/// The GPU is gone when half of the blocks of a launch have run.
fn dies(toolchain: &Toolchain, source: &Path, command: &str) -> Result<()> {
    for launch in ["1", "3"] {
        let ran = run(toolchain, source, &[command], &[("WARPGRIND_STAND_IN_DIES_AT_LAUNCH", launch)])?;
        ensure!(ran.stdout.contains("cudaErrorUnknown"), "the program is not told:\n{}", ran.stdout);
        let is_as_wanted = if command == "run" { ran.code == CALL_FAILED } else { NOT_CLEAN.contains(&ran.code) };
        ensure!(is_as_wanted, "the exit is {}:\n{}", ran.code, ran.stderr);
        ran.says(&["the driver or the GPU has failed; look at `nvidia-smi` and `dmesg`, and run again"])?;
    }
    Ok(())
}

/// The GPU is gone in a run of a trial of inject, which has a process: the program launches one kernel, which runs without a fault,
/// with its places counted, with the fault, and at last as the program asked for it.
pub(crate) fn dies_in_a_trial(toolchain: &Toolchain, source: &Path) -> Result<()> {
    const TRIAL: [&str; 6] = ["inject", "--json", "--model", "store-data", "--trials", "1"];
    const FAILED: &str = "the driver or the GPU has failed";
    const NOT_ON: &str = "the program did not go on as it should after the trial";
    for (launch, note) in [("2", FAILED), ("3", FAILED), ("4", NOT_ON)] {
        let ran = run(toolchain, source, &TRIAL, &[("WARPGRIND_STAND_IN_DIES_AT_LAUNCH", launch)])?;
        let is_invalid = ran.stdout.contains("\"outcome\":\"invalid\"") && ran.stdout.contains(note);
        ensure!(
            ran.code == 87 && is_invalid,
            "launch {launch}, the exit is {}:\n{}{}",
            ran.code,
            ran.stdout,
            ran.stderr
        );
        ran.says(&["not all trials took place: 0 of 1 did"])?;
    }
    let ran = run(toolchain, source, &TRIAL, &[])?;
    ensure!(ran.code == 0 && ran.stdout.contains("\"outcome\":\"sdc\""), "{}{}", ran.stdout, ran.stderr);
    Ok(())
}

/// A kernel goes wrong that the driver had with others at the same time: which it was, it does not say.
pub(crate) fn one_of_several(toolchain: &Toolchain, source: &Path) -> Result<()> {
    for command in COMMANDS.into_iter().chain(["nop"]) {
        let well = run(toolchain, source, &[command], &[])?;
        ensure!(
            well.code == 0 && well.stdout == "cudaSuccess cudaSuccess 4194684 380\n",
            "{}{}",
            well.stdout,
            well.stderr
        );
        let fails = run(toolchain, source, &[command], &[("FAILS", "1")])?;
        ensure!(fails.stdout == "cudaErrorIllegalAddress cudaErrorIllegalAddress 0 0\n", "{}", fails.stdout);
        ensure!(fails.code == if command == "run" { 0 } else { NOT_CLEAN[0] }, "the exit is {}", fails.code);
        match command {
            "memcheck" => fails.says(&["through a null pointer", "in store"])?,
            _ => fails.says(&["launched right before it, also of ", "`store(int*)`"])?,
        }
    }
    Ok(())
}

/// Each call of the driver in turn that needs memory finds none.
fn out_of_memory(toolchain: &Toolchain, source: &Path, command: &str) -> Result<()> {
    for number in 1..MOST_ALLOCATIONS {
        let text = number.to_string();
        let ran = run(toolchain, source, &[command], &[("WARPGRIND_STAND_IN_OUT_OF_MEMORY_AT", &text)])?;
        let Ran { code, stdout, stderr, failed } = &ran;
        let at = || format!("allocation {number}, {failed:?}, the exit is {code}:\n{stdout}{stderr}");
        // A call that fails is a warning.
        ensure!(!stderr.contains("error: "), "something was found: {}", at());
        let Some(_) = failed else {
            ensure!(number > 10 && *code == 0 && stdout.contains("PASS"), "{}", at());
            return Ok(());
        };
        // What can be done without is done without: the redzone of an allocation.
        if *code == 0 {
            ensure!(stdout.contains("PASS") && (command == "run" || stderr.contains("0 errors")), "{}", at());
            continue;
        }
        ensure!(*code == CALL_FAILED || NOT_CLEAN.contains(code) && command != "run", "{}", at());
        ran.says(&["CUDA_ERROR_OUT_OF_MEMORY", "`nvidia-smi` shows who has it, or run with less (--device-memory)"])
            .with_context(at)?;
    }
    anyhow::bail!("{MOST_ALLOCATIONS} allocations are too many")
}

/// A driver of CUDA 12.1, and one that lacks a function.
fn too_old(toolchain: &Toolchain, source: &Path, command: &str) -> Result<()> {
    let old = run(toolchain, source, &[command], &[("WARPGRIND_STAND_IN_VERSION", "12010")])?;
    old.says(&["the driver is for CUDA 12.1, and Warpgrind needs one for 12.2 or later (R535): update it"])?;
    let lacks = run(toolchain, source, &[command], &[("WARPGRIND_STAND_IN_WITHOUT", "cuMemCreate")])?;
    lacks.says(&["has no cuMemCreate: it must be one of CUDA 12.2 (R535) or later, so update it"])?;
    for ran in [old, lacks] {
        ensure!(ran.stdout.contains("cudaErrorNoDevice"), "the program is not told:\n{}", ran.stdout);
        let wanted = if command == "run" { CALL_FAILED } else { 87 };
        ensure!(ran.code == wanted, "the exit is {} instead of {wanted}:\n{}", ran.code, ran.stderr);
    }
    Ok(())
}
