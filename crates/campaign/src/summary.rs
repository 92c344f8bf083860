//! The rows counted: for each kernel, model and variant, and never added up, because their trials are of different populations.

use std::collections::BTreeMap;
use std::fmt::Write;

use report::{demangled, escaped};
use serde::Serialize;

use crate::bounds::{clopper_pearson, upper};
use crate::check::{bytes_of, part_of, path_of};
use crate::manifest::Manifest;
use crate::parquet_file::decode_outcomes;
use crate::store::{Store, StoreError};

/// How sure bounds are.
const CONFIDENCE: f64 = 0.95;
/// What can come of a trial.
pub(crate) const OUTCOMES: [&str; 8] =
    ["masked", "never-read", "sdc", "fault", "hang", "detected", "recovered", "invalid"];
const CORRUPTION: usize = 2;
const INVALID: usize = 7;
/// What stands for two outcomes of a row; 0 stands for none.
const CODES: usize = 1 + OUTCOMES.len() * OUTCOMES.len();

/// All cells that have rows.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// What names the campaign.
    pub campaign: String,
    /// How many rows are there.
    pub rows: u64,
    /// How many should be.
    pub expected: u64,
    /// The cells, in the order of the manifest.
    pub cells: Vec<Cell>,
    /// Files that were not counted, and why.
    pub left_out: Vec<String>,
    /// Rows that are there twice and say different things: the first was counted.
    pub disagreeing: u64,
}

/// The rows of a kernel, model and variant: a line of `--json`, whose fields `docs/report-format.md` explains.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Cell {
    r#type: &'static str,
    /// What names the campaign.
    pub campaign: String,
    /// The kernel as the PTX names it.
    pub kernel: String,
    /// What went wrong.
    pub model: String,
    /// What protected the kernel.
    pub variant: String,
    /// How many trials took place, and how many did not.
    pub trials: u64,
    /// How many did not.
    pub invalid: u64,
    /// What came of them.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Bounds on the share of silent corruption.
    pub sdc_at_least: f64,
    /// The upper one.
    pub sdc_at_most: f64,
    /// Faults that corrupt something silently in the kernel as it is; nothing without protection.
    pub effective: Option<u64>,
    /// Of these, those that do so in the variant.
    pub escaped: Option<u64>,
    /// The share of effective faults that do not escape, at least.
    pub coverage_at_least: Option<f64>,
}

impl Summary {
    /// Reads all parts. A row that is there twice is counted once.
    pub fn of(store: &Store, manifest: &Manifest) -> Result<Self, StoreError> {
        let campaign = manifest.id();
        let mut codes: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        let (mut left_out, mut disagreeing) = (Vec::new(), 0);
        for stored in store.list()? {
            let read = bytes_of(&stored).and_then(|bytes| {
                let Some(bytes) = bytes else { return Ok(None) };
                let columns = decode_outcomes(bytes, manifest.part).map_err(|error| error.to_string())?;
                let part = part_of(&columns, manifest, &campaign)?;
                let code = |index| code(columns.outcomes(index)).ok_or("it has an outcome that is not known");
                let of_rows: Vec<u8> = (0..columns.len()).map(code).collect::<Result<_, _>>()?;
                Ok(Some((part, columns, of_rows)))
            });
            let (part, columns, of_rows) = match read {
                Ok(Some(read)) => read,
                Ok(None) => continue,
                Err(reason) => {
                    let name = path_of(&stored).file_name().unwrap_or_default().to_string_lossy().into_owned();
                    left_out.push(format!("{}: {reason}", escaped(&name)));
                    continue;
                }
            };
            let of_part = codes.entry(part.number).or_insert_with(|| vec![0; part.count as usize]);
            for (index, code) in of_rows.into_iter().enumerate() {
                let place = &mut of_part[(columns.number(index) - part.first_row) as usize];
                match *place {
                    0 => *place = code,
                    same if same == code => {}
                    _ => disagreeing += 1,
                }
            }
        }
        let mut counts: BTreeMap<(usize, usize), [u64; CODES]> = BTreeMap::new();
        for (number, of_part) in codes {
            let part = manifest.part(number);
            let counts = counts.entry((part.stratum, part.variant)).or_insert([0; CODES]);
            of_part.into_iter().for_each(|code| counts[usize::from(code)] += 1);
        }
        let cells: Vec<Cell> = counts
            .iter()
            .map(|(&(stratum, variant), counts)| Cell::of(manifest, &campaign, stratum, variant, counts))
            .collect();
        let rows = cells.iter().map(|cell| cell.trials + cell.invalid).sum();
        Ok(Self { campaign, rows, expected: manifest.rows(), cells, left_out, disagreeing })
    }

    /// For programs: a line of JSON for each cell.
    pub fn json(&self) -> String {
        let line = |cell: &Cell| serde_json::to_string(cell).expect("strings and numbers can be written") + "\n";
        self.cells.iter().map(line).collect()
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut title = (String::new(), String::new());
        for cell in &self.cells {
            let this = (cell.kernel.clone(), cell.model.clone());
            if title != this {
                let _ = writeln!(text, "{}: {}", escaped(&demangled(&cell.kernel)), escaped(&cell.model));
                let _ = writeln!(
                    text,
                    "  {:<16} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {:<28} coverage at 95 %",
                    "variant", "trials", "masked", "sdc", "fault", "hang", "detected", "sdc at 95 %"
                );
                title = this;
            }
            let _ = writeln!(
                text,
                "  {:<16} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {:<28} {}",
                escaped(&cell.variant),
                cell.trials,
                cell.count("masked") + cell.count("never-read") + cell.count("recovered"),
                cell.count("sdc"),
                cell.count("fault"),
                cell.count("hang"),
                cell.count("detected"),
                cell.share_in_words(),
                cell.coverage_in_words()
            );
            if cell.invalid > 0 {
                let _ = writeln!(text, "  {:<16} {:>9} did not take place, and do not count", "", cell.invalid);
            }
        }
        text
    }
}

fn code(outcomes: [&[u8]; 2]) -> Option<u8> {
    let number = |text: &[u8]| OUTCOMES.iter().position(|outcome| outcome.as_bytes() == text);
    let [unprotected, outcome] = [number(outcomes[0])?, number(outcomes[1])?];
    Some((1 + unprotected * OUTCOMES.len() + outcome) as u8)
}

impl Cell {
    fn of(manifest: &Manifest, campaign: &str, stratum: usize, variant: usize, counts: &[u64; CODES]) -> Self {
        let of = |unprotected: usize, outcome: usize| counts[1 + unprotected * OUTCOMES.len() + outcome];
        let all = 0..OUTCOMES.len();
        let sums: Vec<u64> = all.clone().map(|outcome| all.clone().map(|from| of(from, outcome)).sum()).collect();
        let trials = (0..INVALID).map(|outcome| sums[outcome]).sum();
        let (sdc_at_least, sdc_at_most) = clopper_pearson(sums[CORRUPTION], trials, CONFIDENCE);
        let is_protected = manifest.variants[variant] != "none";
        let effective: u64 = (0..INVALID).map(|outcome| of(CORRUPTION, outcome)).sum();
        let escaped = of(CORRUPTION, CORRUPTION);
        let coverage = (effective > 0).then(|| 1.0 - upper(escaped, effective, 1.0 - CONFIDENCE));
        let outcomes =
            (0..INVALID).filter(|&outcome| sums[outcome] > 0).map(|outcome| (OUTCOMES[outcome], sums[outcome]));
        Self {
            r#type: "cell",
            campaign: campaign.to_owned(),
            kernel: manifest.strata[stratum].kernel.clone(),
            model: manifest.strata[stratum].model.clone(),
            variant: manifest.variants[variant].clone(),
            trials,
            invalid: sums[INVALID],
            outcomes: outcomes.collect(),
            sdc_at_least,
            sdc_at_most,
            effective: is_protected.then_some(effective),
            escaped: is_protected.then_some(escaped),
            coverage_at_least: coverage.filter(|_| is_protected),
        }
    }

    /// How many trials had an outcome.
    pub fn count(&self, outcome: &str) -> u64 {
        self.outcomes.get(outcome).copied().unwrap_or(0)
    }

    pub(crate) fn share_in_words(&self) -> String {
        let share = 100.0 * self.count("sdc") as f64 / self.trials.max(1) as f64;
        let (low, high) = (100.0 * self.sdc_at_least, 100.0 * self.sdc_at_most);
        format!("{share:.2} % ({low:.2} % to {high:.2} %)")
    }

    pub(crate) fn coverage_in_words(&self) -> String {
        match (self.effective, self.escaped, self.coverage_at_least) {
            (Some(effective), Some(escaped), Some(coverage)) => {
                format!("at least {:.3} %: {escaped} of {effective} escaped", 100.0 * coverage)
            }
            (Some(_), ..) => "no effective fault".to_owned(),
            _ => String::new(),
        }
    }
}
