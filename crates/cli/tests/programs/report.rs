//! Runs the programs in `tests/TOOL`, each of which has a bug, under that tool, and compares the report with the one beside
//! it; and again as they should have been, when nothing must be found.
//!
//! `//~ ERROR code` is at lines for which there must be a finding (once for each), `//@ finds: code` for one that is at no line of the
//! source, `//@ flags: …` for flags of the command, `//@ headers: nvtx` if it includes those of NVTX,
//! `//@ architecture: sm_90` if it is built for that, `//@ exit: 87` if the command ends otherwise than with findings.
//! `BLESS=1` writes the reports.
//!
//! Python programs are repaired if they find `FIXED` in their environment. Their marks are after `#`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::build::Toolchain;
use crate::gpu::StandIn;
use crate::header::{Header, Variant};
use crate::run::{Installation, timeout};

/// What must be found: the line, if there is one, and the code.
type Wanted = BTreeSet<(Option<u32>, String)>;

/// Runs a program with its bug.
pub(crate) fn with_bug(toolchain: &Toolchain, tool: &str, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let output = check(toolchain, &[tool], source, &text, false)?;
    let report = normalised(&String::from_utf8_lossy(&output.stderr));
    let expected = source.with_extension("report");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&expected, &report)?;
    }
    let exit = after(&text, "@ exit: ").next().unwrap_or("86").parse().context("an exit is a number")?;
    ensure!(output.status.code() == Some(exit), "the exit is {} instead of {exit}:\n{report}", output.status);
    let (wanted, found) = (wanted(&text), found(&report, tool, source));
    ensure!(wanted == found, "wanted {wanted:?}, found {found:?}:\n{report}");
    let before = std::fs::read_to_string(&expected).context("there is no report; BLESS=1 writes it")?;
    ensure!(before == report, "the report is not as before; BLESS=1 writes it anew:\n{report}");
    Ok(())
}

/// Runs a program with its bug and a flag that does not change what is found, and then without it.
pub(crate) fn with_flag(toolchain: &Toolchain, tool: &str, flag: &str, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let found = |is_fixed: bool| -> Result<Wanted> {
        let output = check(toolchain, &[tool, flag], source, &text, is_fixed)?;
        Ok(found(&String::from_utf8_lossy(&output.stderr), tool, source))
    };
    let (wanted, found, of_repaired) = (wanted(&text), found(false)?, found(true)?);
    ensure!(wanted == found && of_repaired.is_empty(), "wanted {wanted:?}, found {found:?}; repaired: {of_repaired:?}");
    Ok(())
}

/// Runs a program on the GPU device, with its bug and without: the same must be found.
pub(crate) fn on_gpu(toolchain: &Toolchain, tool: &str, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    for is_fixed in [false, true] {
        let output = check_on(toolchain, &[tool], source, &text, is_fixed, true)?;
        let report = String::from_utf8_lossy(&output.stderr);
        let (wanted, found) = (if is_fixed { Wanted::new() } else { wanted(&text) }, found(&report, tool, source));
        ensure!(wanted == found, "wanted {wanted:?}, found {found:?}:\n{report}");
        let exit = after(&text, "@ exit: ").next().unwrap_or("86").parse().context("an exit is a number")?;
        let is_as_wanted = match is_fixed {
            false => output.status.code() == Some(exit),
            true => !matches!(output.status.code(), None | Some(86 | 87)),
        };
        ensure!(is_as_wanted, "the exit is {}:\n{report}", output.status);
    }
    Ok(())
}

/// Runs a program of `repair` on the GPU device, where its threads run one after another: it must do what it does on the CPU device
/// if they run so there. Flags that it asks for are for the check, which a GPU does not have.
pub(crate) fn repaired_on_gpu(toolchain: &Toolchain, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let without_flags: String =
        text.lines().filter(|line| !line.contains("@ flags: ")).flat_map(|line| [line, "\n"]).collect();
    for is_fixed in [false, true] {
        let run = |tool, is_on_gpu| check_on(toolchain, tool, source, &without_flags, is_fixed, is_on_gpu);
        let (wanted, found) = (run(&["repair", "--how", "serial"], false)?, run(&["repair"], true)?);
        let report = String::from_utf8_lossy(&found.stderr);
        let refusals = |report: &str| {
            report.lines().filter(|line| line.contains("(repair: ")).map(str::to_owned).collect::<Vec<_>>()
        };
        ensure!(
            wanted.status.code() == found.status.code(),
            "the exit is {} instead of {}:\n{report}",
            found.status,
            wanted.status
        );
        ensure!(wanted.stdout == found.stdout, "it printed {}", String::from_utf8_lossy(&found.stdout));
        ensure!(
            refusals(&String::from_utf8_lossy(&wanted.stderr)) == refusals(&report),
            "it refuses other kernels:\n{report}"
        );
    }
    Ok(())
}

/// Runs a program without it.
pub(crate) fn repaired(toolchain: &Toolchain, tool: &str, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    let output = check(toolchain, &[tool], source, &text, true)?;
    let report = String::from_utf8_lossy(&output.stderr);
    if matches!(output.status.code(), None | Some(86 | 87)) || !found(&report, tool, source).is_empty() {
        bail!("the exit is {}:\n{report}", output.status);
    }
    Ok(())
}

pub(crate) fn check(
    toolchain: &Toolchain,
    tool: &[&str],
    source: &Path,
    text: &str,
    is_fixed: bool,
) -> Result<std::process::Output> {
    check_on(toolchain, tool, source, text, is_fixed, false)
}

fn check_on(
    toolchain: &Toolchain,
    tool: &[&str],
    source: &Path,
    text: &str,
    is_fixed: bool,
    is_on_gpu: bool,
) -> Result<std::process::Output> {
    let installation = Installation::make()?;
    let mut command = timeout(&installation);
    command.args(tool);
    let stand_in = is_on_gpu.then(|| StandIn::new(toolchain, &installation.file(""))).transpose()?;
    match &stand_in {
        None => drop(command.args(["--seed", "1"])),
        Some(stand_in) => {
            command.args(stand_in.flags());
            stand_in.set(&mut command);
        }
    }
    // Whether it is installed must not matter.
    if tool == ["traffic"] {
        command.args(["--ptxas", "none"]);
    }
    command.args(after(text, "@ flags: ").flat_map(str::split_whitespace));
    if source.extension().is_some_and(|extension| extension == "py") {
        command.arg("python3").arg(source.file_name().context("a file has a name")?);
        if is_fixed {
            command.env("FIXED", "1");
        }
    } else {
        let mut header = Header::parse("")?;
        header.build = ["-g"].iter().chain(is_fixed.then_some(&"-DFIXED")).map(|&option| option.to_owned()).collect();
        header.build.extend(after(text, "@ build: ").flat_map(str::split_whitespace).map(str::to_owned));
        if after(text, "@ headers: ").any(|headers| headers == "nvtx") {
            header.build.push(format!("-I{}", Toolchain::other_headers()?.display()));
        }
        let mut variant = Variant::Lines;
        if let Some(name) = after(text, "@ architecture: ").next() {
            variant = Variant::parse(name)?;
            let lines = if variant.clang_cuda().is_some() { "-gline-tables-only" } else { "--generate-line-info" };
            header.build.push(lines.to_owned());
        }
        command.arg(toolchain.build(source, &header, variant).context("building the program")?.program);
    }
    command.args(after(text, "@ args: ").flat_map(str::split_whitespace));
    command.current_dir(source.parent().context("a source is in a directory")?);
    let output = command.output().context("starting `timeout`")?;
    stand_in.map_or(Ok(()), |stand_in| stand_in.check())?;
    Ok(output)
}

/// What follows a mark in the lines that have it.
fn after<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| Some(line.split_once(mark)?.1.trim()))
}

fn wanted(text: &str) -> Wanted {
    let at_lines = text.lines().enumerate().flat_map(|(index, line)| {
        let codes = line.split("~ ERROR ").skip(1).flat_map(|rest| rest.split_whitespace().next());
        codes.map(move |code| (Some(index as u32 + 1), code.to_owned()))
    });
    at_lines.chain(after(text, "@ finds: ").map(|code| (None, code.to_owned()))).collect()
}

/// What a report says was found. Lines of other files than the program's are none.
fn found(report: &str, tool: &str, source: &Path) -> Wanted {
    let of_tool = format!("{tool}[");
    let mut found = Wanted::new();
    let mut lines = report.lines().peekable();
    while let Some(line) = lines.next() {
        let is_finding = line.starts_with("error") || line.starts_with("warning");
        let Some((_, code)) = line.split_once(&of_tool).filter(|_| is_finding) else { continue };
        let place = lines.peek().and_then(|next| next.trim_start().strip_prefix("--> "));
        let (file, number) = place.and_then(|place| place.split_once(':')).unwrap_or_default();
        let number = number.split([':', ' ']).next().and_then(|number| number.parse().ok());
        let number = number.filter(|_| source.ends_with(file));
        found.insert((number, code.trim_end_matches(']').to_owned()));
    }
    found
}

/// Without numbers of processes, and addresses, which differ from run to run.
fn normalised(report: &str) -> String {
    let mut words = Vec::new();
    for word in report.split(' ') {
        let is_number = words.last() == Some(&"process") && word.parse::<u32>().is_ok();
        let is_program = words.ends_with(&["process", "…"]) && word.starts_with('(');
        words.push(if is_number || is_program { "…" } else { word });
    }
    let report = words.join(" ");
    let mut parts = report.split("0x");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()).len();
        let (number, rest) = part.split_at(digits);
        text.push_str(if digits > 8 { "0x…" } else { "0x" });
        text.push_str(if digits > 8 { "" } else { number });
        text.push_str(rest);
    }
    text
}
