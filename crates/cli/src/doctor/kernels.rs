//! The kernels in a program or library.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use fatbin::{Entry, Kind};
use program::Elf;
use program::elf::{SECTION_FATBIN, SECTION_FATBIN_RELOCATABLE};
use serde::Serialize;

use crate::installation;

/// The compute capability that the device has unless it is asked for another, as ten times the number: which PTX of several
/// runs depends on it.
const CAPABILITY: u32 = 80;

/// What nvcc has packed together: the code of one source file.
#[derive(Serialize)]
pub(super) struct Container {
    /// Architectures with PTX.
    pub(super) ptx: Vec<String>,
    /// Architectures with machine code.
    pub(super) machine_code: Vec<String>,
    /// The kernels in the PTX.
    pub(super) kernels: Vec<Kernel>,
    /// The kernels in the machine code.
    pub(super) machine_code_kernels: BTreeSet<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// A kernel.
#[derive(Serialize)]
pub(super) struct Kernel {
    pub(super) name: String,
    /// Why the CPU device does not run it.
    pub(super) refused: Vec<String>,
}

/// All kernels of a file.
pub(super) fn of(elf: &Elf<'_>) -> Result<Vec<Container>> {
    let mut containers = Vec::new();
    for name in [SECTION_FATBIN, SECTION_FATBIN_RELOCATABLE] {
        let Some(section) = elf.section(name) else { continue };
        let bytes = elf.bytes(section).with_context(|| format!("cannot read the section {name}"))?;
        for container in fatbin::containers(&bytes) {
            let read = container.and_then(fatbin::read).and_then(|entries| examine(&entries));
            let container = read.unwrap_or_else(|error| Container {
                ptx: Vec::new(),
                machine_code: Vec::new(),
                kernels: Vec::new(),
                machine_code_kernels: BTreeSet::new(),
                error: Some(error.to_string()),
            });
            // nvcc makes containers without kernels, too.
            if container.error.is_some() || !container.kernels.is_empty() || !container.machine_code_kernels.is_empty()
            {
                containers.push(container);
            }
        }
    }
    Ok(containers)
}

fn examine(entries: &[Entry<'_>]) -> Result<Container, fatbin::Error> {
    let targets = |kind| entries.iter().filter(|entry| entry.kind == kind).map(Entry::target).collect();
    let texts = entries.iter().filter(|entry| entry.kind == Kind::Ptx);
    // The library chooses in the same way.
    let best = texts.clone().filter(|entry| entry.arch <= CAPABILITY).max_by_key(|entry| entry.arch);
    let kernels = match best.or_else(|| texts.min_by_key(|entry| entry.arch)) {
        Some(best) => kernels(&best.text()?),
        None => Vec::new(),
    };
    let mut machine_code_kernels = BTreeSet::new();
    for entry in entries.iter().filter(|entry| entry.kind == Kind::Elf) {
        // What of the machine code is damaged is not our concern: it does not run here.
        machine_code_kernels.extend(machine_code_kernels_of(&entry.text()?).unwrap_or_default());
    }
    Ok(Container {
        ptx: targets(Kind::Ptx),
        machine_code: targets(Kind::Elf),
        kernels,
        machine_code_kernels,
        error: None,
    })
}

fn machine_code_kernels_of(cubin: &[u8]) -> Result<Vec<String>, program::elf::Error> {
    let Some(symbols) = Elf::read_cubin(cubin)?.symbols()? else { return Ok(Vec::new()) };
    let kernels = symbols.iter().filter(|symbol| symbol.is_function && symbol.is_kernel && symbol.is_defined);
    Ok(kernels.map(|symbol| String::from_utf8_lossy(symbol.name).into_owned()).collect())
}

/// The kernels of a PTX module, with what the device refuses.
fn kernels(text: &[u8]) -> Vec<Kernel> {
    let (_, parsed) = ptx::parse_bytes(text);
    let functions = parsed.module.functions.values().filter(|function| function.is_entry());
    let mut kernels: Vec<Kernel> = functions
        .map(|function| Kernel { name: parsed.module.text(function.name).to_owned(), refused: Vec::new() })
        .collect();
    let refusals = refusals(text).unwrap_or_else(|| unknown(&parsed.module));
    for (name, reason) in refusals {
        if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == name) {
            kernel.refused.push(reason);
        }
    }
    kernels
}

/// What the device says; nothing if it cannot be asked.
fn refusals(text: &[u8]) -> Option<Vec<(String, String)>> {
    let check = installation::find("warpgrind-cpu-check")?;
    let mut child =
        Command::new(check).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    // It reads everything before it writes anything. If it ends before, so does the pipe.
    let _ = child.stdin.take()?.write_all(text);
    let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
    let lines = String::from_utf8(output.stdout).ok()?;
    Some(
        lines
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .map(|(name, reason)| (name.to_owned(), reason.to_owned()))
            .collect(),
    )
}

/// Instructions that are not known at all: the part of the answer for which the device is not needed.
fn unknown(module: &ptx::ir::Module) -> Vec<(String, String)> {
    let mut reasons = Vec::new();
    for stats in &ptx::stats::ModuleStats::of(module, None).functions {
        let name = module.text(module.functions[stats.id].name);
        for instruction in stats.unknown.keys() {
            reasons.push((name.to_owned(), format!("`{instruction}` is not known")));
        }
    }
    reasons
}
