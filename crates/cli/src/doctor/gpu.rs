//! The driver and the GPU that `--device gpu` would use.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use gpu_driver::{Driver, DriverError, GpuDevice, functions};
use ptx::diagnostic::printable;
use serde::Serialize;

use super::Problem;
use crate::{CommandStatus, gpu_driver_file, output};

/// What was found.
#[derive(Serialize, Default)]
struct Report {
    /// The file of the driver.
    driver: Option<String>,
    /// The version of CUDA that it is for.
    cuda: Option<String>,
    /// What the driver calls the GPU.
    gpu: Option<String>,
    compute_capability: Option<String>,
    /// Bytes of memory that are free.
    memory: Option<u64>,
    multiprocessors: Option<u32>,
    /// Functions of the driver that are called.
    functions: usize,
    can_run: bool,
    problems: Vec<Problem>,
}

/// Looks at the driver, named or installed, and at its first GPU.
pub(super) fn run(named: Option<&Path>, json: bool) -> Result<CommandStatus> {
    let mut report = Report { functions: functions::TABLE.len(), ..Report::default() };
    if let Err(problem) = examine(named, &mut report) {
        report.problems.push(problem);
    }
    report.can_run = report.problems.is_empty();
    if json {
        output::print_json(&report)?;
    } else {
        output::print(&text(&report))?;
    }
    Ok(if report.can_run { CommandStatus::Success } else { CommandStatus::Failure })
}

fn examine(named: Option<&Path>, report: &mut Report) -> Result<(), Problem> {
    // Errors end with what to do, after a colon.
    let problem = |said: String| match said.rsplit_once(": ") {
        Some((what, cure)) => Problem { what: what.to_owned(), cure: cure.to_owned() },
        None => Problem { what: said, cure: "update the driver, or run with `--device cpu`".to_owned() },
    };
    let refused = |error: DriverError| problem(error.to_string());
    let file = gpu_driver_file::find(named).map_err(|error| problem(format!("{error:#}")))?;
    report.driver = Some(file.display().to_string());
    let driver = Driver::load(&file).map_err(refused)?;
    report.cuda = Some(format!("{}.{}", driver.version() / 1000, driver.version() % 1000 / 10));
    let (_, facts) = driver.facts().map_err(refused)?;
    report.gpu = Some(facts.name);
    report.compute_capability = Some(format!("{}.{}", facts.capability / 10, facts.capability % 10));
    report.multiprocessors = Some(facts.multiprocessors);
    // What a run would do first.
    let (_device, facts) = GpuDevice::open(driver, None).map_err(refused)?;
    report.memory = Some(facts.memory);
    Ok(())
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{}", printable(&text)).expect("writing to a string");
    if let Some(driver) = &report.driver {
        line(driver.clone());
    }
    if let Some(cuda) = &report.cuda {
        line(format!(
            "  driver for CUDA {cuda}; {} of its functions are used, all of them documented",
            report.functions
        ));
    }
    if let (Some(gpu), Some(capability)) = (&report.gpu, &report.compute_capability) {
        let multiprocessors = report.multiprocessors.unwrap_or(0);
        line(format!("  {gpu}, compute capability {capability}, {multiprocessors} multiprocessors"));
    }
    if let Some(memory) = report.memory {
        line(format!("  {} MiB of memory are free", memory >> 20));
    }
    for Problem { what, cure } in &report.problems {
        line(format!("problem: {what}"));
        line(format!("   cure: {cure}"));
    }
    if report.can_run {
        line("`--device gpu` can run kernels there. Nothing was launched.".to_owned());
    }
    out
}
