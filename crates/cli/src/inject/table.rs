//! The trials of each kernel, counted. Kernels are never added up: their launches are not of the same population.

use std::collections::BTreeMap;
use std::fmt::Write;

use report::{Cell, demangled};
use serde::Serialize;

use crate::trials::{TOOL, Trial};
use campaign::bounds::{clopper_pearson, upper};

/// How sure bounds are.
const CONFIDENCE: f64 = 0.95;

/// All kernels.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    is_protected: bool,
    has_verdicts: bool,
}

/// The trials of a kernel.
#[derive(Clone, Default, Debug)]
pub(super) struct Row {
    kernel: String,
    /// How many took place.
    trials: u64,
    invalid: u64,
    outcomes: BTreeMap<String, u64>,
    /// Of those that corrupt something, in the protected kernel.
    protected: BTreeMap<String, u64>,
    /// In the program.
    program: BTreeMap<&'static str, u64>,
}

impl Table {
    pub(super) fn of(trials: &[Trial], is_protected: bool) -> Self {
        let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
        for trial in trials {
            let row =
                rows.entry(&trial.kernel).or_insert_with(|| Row { kernel: trial.kernel.clone(), ..Row::default() });
            if !trial.is_valid() {
                row.invalid += 1;
                continue;
            }
            row.trials += 1;
            *row.outcomes.entry(trial.outcome.clone()).or_default() += 1;
            if trial.outcome == "sdc" && !trial.protected.is_empty() {
                *row.protected.entry(trial.protected.clone()).or_default() += 1;
            }
            if let Some(verdict) = &trial.program {
                *row.program.entry(verdict.name()).or_default() += 1;
            }
        }
        let has_verdicts = trials.iter().any(|trial| trial.program.is_some());
        Self { rows: rows.into_values().collect(), is_protected, has_verdicts }
    }

    /// For a page: how many trials of each kernel came to what, and what became of those that corrupt something in the
    /// protected kernel.
    pub(super) fn outcomes(&self) -> Vec<report::Row> {
        let mut outcomes = Vec::new();
        for row in &self.rows {
            let named = report::Row::new(TOOL, "outcomes").with("kernel", Cell::Text(demangled(&row.kernel)));
            let count = |names: &[&str]| Cell::Count(names.iter().map(|name| row.count(name)).sum());
            let (low, high) = clopper_pearson(row.count("sdc"), row.trials, CONFIDENCE);
            let bounds = format!("{:.2} % to {:.2} %", 100.0 * low, 100.0 * high);
            outcomes.push(
                named
                    .clone()
                    .with("masked", count(&["masked", "never-read"]))
                    .with("silent corruption", count(&["sdc"]))
                    .with("fault", count(&["fault"]))
                    .with("hang", count(&["hang"]))
                    .with("detected", count(&["detected"]))
                    .with("recovered", count(&["recovered"]))
                    .with("silent corruption at 95 %", Cell::Text(bounds)),
            );
        }
        // Rows of a table are together.
        for row in self.rows.iter().filter(|_| self.is_protected) {
            let kernel = format!("{}, protected: what corrupted something without", demangled(&row.kernel));
            let named = report::Row::new(TOOL, "outcomes").with("kernel", Cell::Text(kernel));
            let of = |name: &str| Cell::Count(row.protected.get(name).copied().unwrap_or(0));
            let others = row
                .protected
                .iter()
                .filter(|(name, _)| !["masked", "sdc", "detected", "recovered"].contains(&name.as_str()));
            let others = Cell::Count(others.map(|(_, count)| count).sum());
            let named = named.with("masked", of("masked")).with("silent corruption", of("sdc"));
            let named = named.with("other", others).with("hang", Cell::Count(0));
            outcomes.push(named.with("detected", of("detected")).with("recovered", of("recovered")));
        }
        outcomes
    }

    /// For people.
    pub(super) fn text(&self, model: &str) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let of = |name: &str| row.count(name);
            let (low, high) = clopper_pearson(of("sdc"), row.trials, CONFIDENCE);
            let _ = writeln!(text, "{}: {} trials of {model}", demangled(&row.kernel), row.trials);
            let _ = writeln!(text, "  masked             {:>8}", of("masked") + of("never-read"));
            let share = |count: u64| 100.0 * count as f64 / row.trials.max(1) as f64;
            let _ = writeln!(
                text,
                "  silent corruption  {:>8}   {:.2} % ({:.2} % to {:.2} % at 95 %)",
                of("sdc"),
                share(of("sdc")),
                100.0 * low,
                100.0 * high
            );
            let _ = writeln!(text, "  fault              {:>8}", of("fault"));
            let _ = writeln!(text, "  hang               {:>8}", of("hang"));
            for name in ["detected", "recovered"].into_iter().filter(|name| of(name) > 0) {
                let _ = writeln!(text, "  {name:<18} {:>8}", of(name));
            }
            if row.invalid > 0 {
                let _ = writeln!(text, "  did not take place {:>8}", row.invalid);
            }
            if self.has_verdicts {
                let counts = row.program.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>();
                let _ = writeln!(text, "  program            {}", counts.join(", "));
            }
            if self.is_protected {
                let (effective, escaped) = (row.effective(), row.escaped());
                let kinds = row.protected.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>();
                let _ = writeln!(text, "  protected          {:>8}   {}", effective, kinds.join(", "));
                if let Some(coverage) = row.coverage() {
                    let _ = writeln!(
                        text,
                        "  escaped            {escaped:>8}   coverage at least {:.3} % at 95 %",
                        100.0 * coverage
                    );
                }
            }
        }
        text
    }
}

impl Row {
    fn count(&self, outcome: &str) -> u64 {
        self.outcomes.get(outcome).copied().unwrap_or(0)
    }

    /// Faults that corrupt something without protection, and were tried with it.
    fn effective(&self) -> u64 {
        self.protected.values().sum()
    }

    /// Of these, those that do so with protection.
    fn escaped(&self) -> u64 {
        self.protected.get("sdc").copied().unwrap_or(0)
    }

    /// The share of faults that do not escape, at least.
    fn coverage(&self) -> Option<f64> {
        (self.effective() > 0).then(|| 1.0 - upper(self.escaped(), self.effective(), 1.0 - CONFIDENCE))
    }

    /// For programs.
    pub(super) fn json(&self, model: &str, with: Option<&str>) -> impl Serialize {
        let (low, high) = clopper_pearson(self.count("sdc"), self.trials, CONFIDENCE);
        JsonRow {
            r#type: "faults",
            model: model.to_owned(),
            kernel: self.kernel.clone(),
            trials: self.trials,
            invalid: self.invalid,
            outcomes: self.outcomes.clone(),
            sdc_at_least: low,
            sdc_at_most: high,
            program: self.program.clone(),
            with: with.map(str::to_owned),
            protected: self.protected.clone(),
            effective: self.effective(),
            escaped: self.escaped(),
            coverage_at_least: self.coverage(),
        }
    }
}

/// A kernel as JSON: `docs/report-format.md` says what fields mean.
#[derive(Serialize)]
struct JsonRow {
    r#type: &'static str,
    model: String,
    kernel: String,
    trials: u64,
    invalid: u64,
    outcomes: BTreeMap<String, u64>,
    sdc_at_least: f64,
    sdc_at_most: f64,
    program: BTreeMap<&'static str, u64>,
    with: Option<String>,
    protected: BTreeMap<String, u64>,
    effective: u64,
    escaped: u64,
    coverage_at_least: Option<f64>,
}
