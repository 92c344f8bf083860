//! Whether all engines agree about a kernel.

use anyhow::{Context, Result, bail, ensure};
use ptx::analysis::{Cfg, DefUse, Liveness};
use ptx::ir::{Module, Param};

use crate::commands::run::{Left, compare, play};
use crate::engine::{Ending, Engine};
use crate::scenario::Scenario;

/// What became of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// All engines leave the same in memory.
    Agree,
    /// The kernel is no good: it is wrong, it faults, or the interpreter itself finds that its result depends on the
    /// schedule.
    Unfit(String),
    /// Engines that differ from the interpreter, and in what.
    Differ(Vec<(String, String)>),
}

/// Runs the text of a test file in all engines, of which the first is the interpreter.
pub fn judge(text: &str, engines: &[Box<dyn Engine>]) -> Comparison {
    let (module, scenario) = match read(text) {
        Ok(read) => read,
        Err(error) => return Comparison::Unfit(format!("{error:#}")),
    };
    let (interpreters, others): (Vec<_>, Vec<_>) =
        engines.iter().partition(|engine| engine.name().starts_with("interpreter"));
    let mut expected: Option<Left> = None;
    for interpreter in interpreters {
        let left = match play(&**interpreter, &module, &scenario) {
            Ok(left) => left,
            Err(error) => return Comparison::Unfit(format!("{}: {error:#}", interpreter.name())),
        };
        if let Some(Ending::Fault(_, words)) = left.endings.last() {
            return Comparison::Unfit(format!("{}: {words}", interpreter.name()));
        }
        let Some(expected) = &expected else {
            expected = Some(left);
            continue;
        };
        if let Err(error) = compare(&scenario, expected, &left) {
            return Comparison::Unfit(format!("depends on the schedule: {}: {error:#}", interpreter.name()));
        }
    }
    let expected = expected.expect("the interpreter is among the engines");
    let mut differences = Vec::new();
    for engine in others.into_iter().filter(|engine| engine.suits(&module, &scenario)) {
        let found = play(&**engine, &module, &scenario);
        if let Err(error) = found.and_then(|found| compare(&scenario, &expected, &found)) {
            differences.push((engine.name(), format!("{error:#}")));
        }
    }
    if differences.is_empty() { Comparison::Agree } else { Comparison::Differ(differences) }
}

/// The module and its launches, if the parser and the verifier have nothing to say and no register is read before it is
/// written.
pub fn read(text: &str) -> Result<(Module, Scenario)> {
    let parsed = ptx::parse(text);
    let complaints = parsed.diagnostics.iter().cloned().chain(ptx::verify(&parsed.module));
    if let Some(diagnostic) = complaints.into_iter().next() {
        bail!("{}", diagnostic.render("kernel", text, &parsed.module.lines, false));
    }
    let scenario = Scenario::parse(text).context("reading the launches")?;
    for function in parsed.module.functions.values() {
        let in_registers = function.params.iter().chain(&function.returns).any(|param| !matches!(param, Param::Var(_)));
        if function.body.is_none() || in_registers {
            continue;
        }
        let (cfg, def_use) = (Cfg::of(&parsed.module.forms, function), DefUse::of(&parsed.module.forms, function));
        let live = Liveness::of(&cfg, &def_use);
        ensure!(live.live_in(cfg.entry()).next().is_none(), "a register is read before it is written");
    }
    ensure!(!scenario.launches.is_empty(), "there is nothing to run");
    Ok((parsed.module, scenario))
}
