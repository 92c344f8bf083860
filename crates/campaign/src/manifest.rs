//! The manifest of a campaign: what is tried, and on what its outcome depends.
//!
//! Trials are numbered through: a *stratum* is a kernel and a model, a *cell* a stratum and a variant, and each cell has the
//! trials 0 to N - 1. The same trial strikes the same place in all cells of a stratum. A *part* is a run of trials of one cell,
//! which one process runs and one file holds; its bounds are in the manifest, so that they do not depend on who runs it. A
//! *shard* is a run of parts.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::hash::hash_bytes;

/// What is tried.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`Manifest::FORMAT`].
    pub format: u32,
    /// What runs.
    pub program: Program,
    /// Hashes of the PTX in the program's file.
    pub ptx: Vec<String>,
    /// Files that the program reads.
    pub inputs: Vec<Input>,
    /// What runs the trials.
    pub build: Build,
    /// The flags that describe the device.
    pub device: Vec<String>,
    /// Whose addresses are legal: `cpu`, those of the CPU device.
    pub address_map: String,
    /// How many threads of a warp run at once.
    pub width: u32,
    /// What the program does without faults.
    pub golden: Golden,
    /// What trials, and schedules, are made from.
    pub seed: u64,
    /// When a thread hangs: so many times what it should take.
    pub patience: u64,
    /// How many trials a cell has.
    pub trials: u64,
    /// How many trials a part has, at most.
    pub part: u64,
    /// What kernels are tried with: `none`, `rmt`, ….
    pub variants: Vec<String>,
    /// What is struck, and how.
    pub strata: Vec<Stratum>,
}

/// What runs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Where it is, absolute.
    pub path: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The directory that it runs in.
    pub directory: String,
    /// The hash of its file.
    pub hash: String,
}

/// A file that the program reads.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Where it is; from the program's directory on, if it is relative.
    pub path: String,
    /// Its hash.
    pub hash: String,
}

/// What runs the trials.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The version of Warpgrind.
    pub version: String,
    /// The hash of its library that is loaded into programs.
    pub hash: String,
}

/// What the program does without faults.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    /// Its exit code.
    pub exit: i32,
    /// The hash of its standard output; nothing if two runs differ.
    pub stdout: Option<String>,
    /// How many launches could be struck.
    pub launches: u64,
}

/// A kernel and a model.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Stratum {
    /// The kernel as the PTX names it.
    pub kernel: String,
    /// What goes wrong.
    pub model: String,
    /// How many places each launch has, as the tool reads it: those of other kernels have none.
    pub places: String,
}

/// A run of trials of one cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Its number in the campaign.
    pub number: u64,
    /// Which stratum, and which variant.
    pub stratum: usize,
    /// Which variant.
    pub variant: usize,
    /// The number of its first trial.
    pub first: u64,
    /// How many it has.
    pub count: u64,
    /// The number of its first row in the campaign.
    pub first_row: u64,
}

impl Part {
    /// The numbers of its rows.
    pub fn rows(&self) -> Range<u64> {
        self.first_row..self.first_row + self.count
    }
}

/// Why something is no manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It is too large.
    #[error("it has more than {} MiB: no manifest is so large", Manifest::MAX_BYTES >> 20)]
    TooLarge,
    /// It is not JSON of this shape.
    #[error("it is not a manifest of `warpgrind campaign plan`: {0}")]
    Shape(serde_json::Error),
    /// It is of another version.
    #[error("its format is {0}, and this is version {format}: run it with the version that planned it", format = Manifest::FORMAT)]
    Format(u32),
    /// A number is out of bounds.
    #[error("{0}: plan the campaign again")]
    Bounds(&'static str),
}

impl Manifest {
    /// The format that is written and read.
    pub const FORMAT: u32 = 1;
    /// Larger files are no manifests.
    pub const MAX_BYTES: u64 = 64 << 20;
    /// Parts have no more trials.
    pub const MAX_PART: u64 = 1 << 20;
    /// Campaigns have no more rows.
    pub const MAX_ROWS: u64 = 1 << 36;

    /// Reads a manifest.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        if bytes.len() as u64 > Self::MAX_BYTES {
            return Err(ManifestError::TooLarge);
        }
        let Format { format } = serde_json::from_slice(bytes).map_err(ManifestError::Shape)?;
        if format != Self::FORMAT {
            return Err(ManifestError::Format(format));
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(ManifestError::Shape)?;
        manifest.validate()?;
        Ok(manifest)
    }

    /// Whether its numbers can be computed with.
    pub fn validate(&self) -> Result<(), ManifestError> {
        let within = |holds: bool, otherwise| if holds { Ok(()) } else { Err(ManifestError::Bounds(otherwise)) };
        within((1..=Self::MAX_PART).contains(&self.part), "a part has 1 to 1048576 trials")?;
        within(self.trials >= 1, "there are no trials")?;
        within(!self.variants.is_empty() && !self.strata.is_empty(), "there is nothing to try")?;
        within(self.width == 1 || self.width == 32, "the width is neither 1 nor 32")?;
        let mut variants = self.variants.clone();
        variants.sort();
        variants.dedup();
        within(variants.len() == self.variants.len(), "a variant is there twice")?;
        let cells = (self.strata.len() as u64).checked_mul(self.variants.len() as u64);
        let rows = cells.and_then(|cells| cells.checked_mul(self.trials));
        within(rows.is_some_and(|rows| rows <= Self::MAX_ROWS), "there are more than 2^36 trials")
    }

    /// As it is kept in files.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings and numbers can be written") + "\n"
    }

    /// What names the campaign: the hash of its manifest.
    pub fn id(&self) -> String {
        hash_bytes(self.to_json().as_bytes())
    }

    /// How many rows all parts have together.
    pub fn rows(&self) -> u64 {
        self.cells() * self.trials
    }

    /// How many cells there are.
    pub fn cells(&self) -> u64 {
        (self.strata.len() * self.variants.len()) as u64
    }

    fn parts_of_cell(&self) -> u64 {
        self.trials.div_ceil(self.part)
    }

    /// How many parts there are.
    pub fn parts(&self) -> u64 {
        self.cells() * self.parts_of_cell()
    }

    /// A part, by its number, which is below [`Manifest::parts`].
    pub fn part(&self, number: u64) -> Part {
        let (cell, in_cell) = (number / self.parts_of_cell(), number % self.parts_of_cell());
        let first = in_cell * self.part;
        Part {
            number,
            stratum: (cell / self.variants.len() as u64) as usize,
            variant: (cell % self.variants.len() as u64) as usize,
            first,
            count: self.part.min(self.trials - first),
            first_row: cell * self.trials + first,
        }
    }

    /// The part that a row is in, if there is such a row.
    pub fn part_of_row(&self, row: u64) -> Option<Part> {
        (row < self.rows()).then(|| {
            let (cell, trial) = (row / self.trials, row % self.trials);
            self.part(cell * self.parts_of_cell() + trial / self.part)
        })
    }

    /// The parts of a shard, which is one of so many, from 1 on.
    pub fn shard(&self, number: u64, of: u64) -> Range<u64> {
        assert!((1..=of).contains(&number), "shard {number} of {of}");
        let bound = |number: u64| (u128::from(self.parts()) * u128::from(number) / u128::from(of)) as u64;
        bound(number - 1)..bound(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(trials: u64, part: u64) -> Manifest {
        let mut manifest = Manifest::parse(include_bytes!("../tests/manifest.json")).unwrap();
        (manifest.trials, manifest.part) = (trials, part);
        manifest
    }

    #[test]
    fn parts_have_every_row_once() {
        for (trials, part) in [(1, 1), (10, 3), (64, 64), (65, 64), (7, 100)] {
            let manifest = manifest(trials, part);
            let rows: Vec<u64> = (0..manifest.parts()).flat_map(|number| manifest.part(number).rows()).collect();
            assert!(rows.iter().copied().eq(0..manifest.rows()), "{trials} in {part}");
            for row in rows {
                let part = manifest.part_of_row(row).unwrap();
                assert!(part.rows().contains(&row) && part == manifest.part(part.number));
            }
            assert_eq!(manifest.part_of_row(manifest.rows()), None);
        }
    }

    #[test]
    fn shards_have_every_part_once() {
        let manifest = manifest(100, 7);
        for of in [1, 2, 8, 59, 1000, u64::MAX / 2] {
            let some = of.min(2000);
            let parts: Vec<u64> = (1..=some).flat_map(|number| manifest.shard(number, of)).collect();
            if some == of {
                assert!(parts.into_iter().eq(0..manifest.parts()), "{of}");
            }
        }
    }

    #[test]
    fn numbers_out_of_bounds_are_refused() {
        let refuse = |change: fn(&mut Manifest)| {
            let mut changed = manifest(10, 3);
            change(&mut changed);
            assert!(Manifest::parse(changed.to_json().as_bytes()).is_err(), "{changed:?}");
        };
        refuse(|manifest| manifest.part = 0);
        refuse(|manifest| manifest.part = u64::MAX);
        refuse(|manifest| manifest.trials = 0);
        refuse(|manifest| manifest.trials = u64::MAX);
        refuse(|manifest| manifest.variants.clear());
        refuse(|manifest| manifest.variants.push(manifest.variants[0].clone()));
        refuse(|manifest| manifest.strata.clear());
        refuse(|manifest| manifest.width = 3);
        refuse(|manifest| manifest.format = 2);
    }
}
