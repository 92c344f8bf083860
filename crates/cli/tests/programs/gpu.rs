//! The same programs on the GPU device, over a driver that a process of ours plays (`crates/stand-in`): what NVIDIA's assembler
//! refuses is refused, and neither side can access the other's memory. Nothing here has run on a GPU.
//!
//! All programs of `tests/cuda` run alone and under memcheck, and all pairs of the tools that a GPU can have, but for those that
//! are listed here, with the reason.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::build::Toolchain;
use crate::run::newest;

/// Tools whose pairs are run.
pub(crate) const TOOLS: [&str; 5] = ["memcheck", "rmt", "loads", "order", "doubled"];

/// Programs that are not run on it, each with the reason. `group/` stands for all of a group.
pub(crate) const NOT_RUN: &[(&str, &str)] = &[];

/// Why a program is not run, if it is not.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    let is_it = |(listed, _): &&(&str, &str)| name == *listed || listed.ends_with('/') && name.starts_with(listed);
    NOT_RUN.iter().find(is_it).map(|(_, reason)| *reason)
}

/// Functions of the driver that were called are all in the table.
fn check_calls(log: &Path) -> Result<()> {
    let called = std::fs::read_to_string(log).unwrap_or_default();
    for name in called.lines() {
        ensure!(gpu_driver::functions::TABLE.iter().any(|known| known.name == name), "{name} is not in the table");
    }
    Ok(())
}

/// A driver for one run.
pub(crate) struct StandIn {
    driver: PathBuf,
    gpu: PathBuf,
    ptxas: PathBuf,
    log: PathBuf,
}

impl StandIn {
    /// For a run in a directory of its own.
    pub(crate) fn new(toolchain: &Toolchain, directory: &Path) -> Result<Self> {
        let command = Path::new(env!("CARGO_BIN_EXE_warpgrind"));
        let gpu = command.with_file_name("warpgrind-stand-in-gpu");
        if !gpu.exists() {
            bail!("{} was not built: cargo build --workspace", gpu.display());
        }
        let driver = newest(command, "libwarpgrind_stand_in.so").context("the driver")?;
        Ok(Self { driver, gpu, ptxas: toolchain.ptxas(), log: directory.join("calls") })
    }

    /// The flags of the command.
    pub(crate) fn flags(&self) -> [&std::ffi::OsStr; 4] {
        ["--device".as_ref(), "gpu".as_ref(), "--driver".as_ref(), self.driver.as_os_str()]
    }

    /// What the driver finds in its environment.
    pub(crate) fn set(&self, command: &mut std::process::Command) {
        command.env("WARPGRIND_STAND_IN_GPU", &self.gpu);
        command.env("WARPGRIND_STAND_IN_PTXAS", &self.ptxas);
        command.env("WARPGRIND_STAND_IN_LOG", &self.log);
    }

    /// What must hold after each run.
    pub(crate) fn check(&self) -> Result<()> {
        check_calls(&self.log)
    }
}
