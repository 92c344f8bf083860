//! The trials of each kernel, counted. Kernels are never added up: their launches are not of the same population.

use std::collections::BTreeMap;
use std::fmt::Write;

use report::demangled;
use serde::Serialize;

use super::bounds::{clopper_pearson, upper};
use super::trial::Trial;

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
    pub(super) fn of(trials: &[Trial], with: Option<&str>) -> Self {
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
        Self { rows: rows.into_values().collect(), is_protected: with.is_some(), has_verdicts }
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
