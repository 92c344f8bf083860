//! `warpgrind memcheck valgrind`, with the Valgrind that is installed: what is undefined on one side is so on the other, with
//! the runtime in the program and beside it. The repaired program is silent on both.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::build::Toolchain;
use crate::header::{Header, Variant};
use crate::run::{Installation, limited};

/// Seconds: Valgrind runs the compiler of kernels, too.
const TIMEOUT: &str = "900";

/// How the program is built.
pub(crate) const VARIANTS: [Variant; 2] = [Variant::Static, Variant::Shared];

/// Where something must be found: the mark of a line, by whom, and what they say.
const FOUND: [(&str, &str); 3] = [
    ("// DEVICE", "error: what a thread does depends on an undefined value"),
    ("// HOST", "Conditional jump or move depends on uninitialised value(s)"),
    ("// FREED", "Unaddressable byte(s) found during client check request"),
];

/// Runs a program, and its twin.
pub(crate) fn check(toolchain: &Toolchain, source: &Path, variant: Variant, is_fixed: bool) -> Result<()> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        bail!("valgrind is not installed: apt-get install valgrind");
    }
    let mut header = Header::parse("")?;
    let options = ["-g", "--generate-line-info"].into_iter().chain(is_fixed.then_some("-DFIXED"));
    header.build = options.map(str::to_owned).collect();
    let program = toolchain.build(source, &header, variant).context("building the program")?.program;
    let installation = Installation::make()?;
    let mut command = limited(&installation, TIMEOUT);
    // Where our libraries have their lines, Valgrind shows functions that were inlined, and the program is far down.
    command.args(["memcheck", "--device-memory", "64M", "valgrind", "--quiet", "--num-callers=60"]).arg(program);
    command.current_dir(source.parent().context("a source is in a directory")?);
    let output = command.output().context("starting the command")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(String::from_utf8_lossy(&output.stdout).ends_with("done\n"), "it did not end: {said}");
    let text = std::fs::read_to_string(source)?;
    for (mark, sentence) in FOUND {
        let line = 1 + text.lines().position(|line| line.ends_with(mark)).context(mark)?;
        let name = source.file_name().context("a file has a name")?.to_string_lossy();
        let is_found = said.contains(sentence) && said.contains(&format!("{name}:{line}"));
        ensure!(is_found != is_fixed, "{sentence} at {name}:{line}: {is_found}, {said}");
    }
    // Nothing else, by neither of them.
    let errors = said.lines().filter(|line| line.starts_with("error")).count();
    ensure!(errors == usize::from(!is_fixed), "{errors} errors: {said}");
    let contexts = said.matches("== Conditional jump").count() + said.matches("== Use of").count();
    ensure!(contexts == usize::from(!is_fixed) && !said.contains("== Invalid"), "Valgrind: {said}");
    Ok(())
}
