//! Whether all rows of a campaign are there, once, and agree.
//!
//! Names of files are not believed: a part that was copied, or written by two builds that differ, is found by its rows.
//! Of each row only a hash is kept, so ten million rows take 80 MB.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use report::escaped;

use crate::hash::hash_bytes;
use crate::manifest::{Manifest, Part};
use crate::parquet_file::{Columns, decode_columns};
use crate::store::{Store, StoreError, Stored, read_at_most};

/// More lines of a kind are counted, and not shown.
const MOST_LINES: usize = 50;
/// Larger files are not read.
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// What is wrong with a campaign.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Check {
    /// How many rows are there, each counted once, and how many should be.
    pub rows: u64,
    /// How many there should be.
    pub expected: u64,
    /// Rows that are not there.
    pub missing: Vec<Range<u64>>,
    /// Rows that are there more than once, and in which files.
    pub doubled: Vec<(Range<u64>, Vec<PathBuf>)>,
    /// Of these, those that say different things.
    pub disagreeing: Vec<(Range<u64>, Vec<PathBuf>)>,
    /// Files that cannot be read, or are not what was written, and why.
    pub damaged: Vec<(PathBuf, String)>,
    /// What writers have not finished.
    pub unfinished: Vec<PathBuf>,
    /// Who wrote parts that others had written, with the same rows.
    pub again: Vec<(String, Vec<u64>)>,
}

/// The rows of a part, and the files that they are in.
#[derive(Default)]
struct Seen {
    /// A hash of each row; 0 if it is not there.
    hashes: Vec<u64>,
    files: Vec<PathBuf>,
    doubled: Vec<u64>,
    disagreeing: Vec<u64>,
}

/// Reads all parts.
pub fn check(store: &Store, manifest: &Manifest) -> Result<Check, StoreError> {
    let id = manifest.id();
    let mut check = Check { expected: manifest.rows(), again: store.again()?, ..Check::default() };
    let mut seen: BTreeMap<u64, Seen> = BTreeMap::new();
    for stored in store.list()? {
        match file(&stored, manifest, &id) {
            Ok(None) => check.unfinished.extend(unfinished(stored)),
            Ok(Some((part, columns, path))) => seen.entry(part.number).or_default().add(&part, &columns, path),
            Err(reason) => check.damaged.push((path_of(&stored).to_owned(), reason)),
        }
    }
    let mut next = 0;
    for (number, of_part) in &seen {
        let part = manifest.part(*number);
        push(&mut check.missing, next..part.first_row);
        for (index, hash) in of_part.hashes.iter().enumerate() {
            let row = part.first_row + index as u64;
            match hash {
                0 => push(&mut check.missing, row..row + 1),
                _ => check.rows += 1,
            }
        }
        next = part.rows().end;
        for (rows, list) in [(&of_part.doubled, &mut check.doubled), (&of_part.disagreeing, &mut check.disagreeing)] {
            let mut ranges = Vec::new();
            let mut rows = rows.clone();
            rows.sort_unstable();
            rows.dedup();
            rows.into_iter().for_each(|row| push(&mut ranges, row..row + 1));
            list.extend(ranges.into_iter().map(|range| (range, of_part.files.clone())));
        }
    }
    push(&mut check.missing, next..manifest.rows());
    Ok(check)
}

/// Adds a range, to the last one if it follows it.
fn push(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

pub(crate) fn path_of(stored: &Stored) -> &Path {
    match stored {
        Stored::Part { path, .. } | Stored::Other(path) | Stored::Unfinished(path) => path,
    }
}

fn unfinished(stored: Stored) -> Option<PathBuf> {
    if let Stored::Unfinished(path) = stored { Some(path) } else { None }
}

/// The bytes of a file, if they are what was written.
pub(crate) fn bytes_of(stored: &Stored) -> Result<Option<Vec<u8>>, String> {
    let path = path_of(stored);
    if matches!(stored, Stored::Unfinished(_)) {
        return Ok(None);
    }
    let bytes = read_at_most(path, MOST_BYTES).map_err(|error| error.to_string())?;
    match stored {
        Stored::Part { hash, .. } if !hash_bytes(&bytes).starts_with(hash) => {
            Err(format!("it is not what was written: truncated or changed ({} bytes are there)", bytes.len()))
        }
        _ => Ok(Some(bytes)),
    }
}

/// The part that all rows of a file are of.
pub(crate) fn part_of(columns: &Columns, manifest: &Manifest, id: &str) -> Result<Part, String> {
    if !columns.are_of(id) {
        return Err("it is of another campaign".to_owned());
    }
    if columns.is_empty() {
        return Err("it has no rows".to_owned());
    }
    let part = manifest.part_of_row(columns.number(0)).ok_or("it has rows that the campaign does not have")?;
    match (0..columns.len()).all(|index| part.rows().contains(&columns.number(index))) {
        true => Ok(part),
        false => Err("it has rows of several parts".to_owned()),
    }
}

/// The rows of a file, and the part that they are of; nothing if it is not finished.
fn file(stored: &Stored, manifest: &Manifest, id: &str) -> Result<Option<(Part, Columns, PathBuf)>, String> {
    let Some(bytes) = bytes_of(stored)? else { return Ok(None) };
    let columns = decode_columns(bytes, manifest.part).map_err(|error| error.to_string())?;
    let part = part_of(&columns, manifest, id)?;
    let (stratum, variant) = (&manifest.strata[part.stratum], &manifest.variants[part.variant]);
    for index in 0..columns.len() {
        let trial = part.first + (columns.number(index) - part.first_row);
        if !columns.is_of(index, &stratum.kernel, &stratum.model, variant, trial) {
            return Err(format!("row {} has another kernel, model, variant or trial", columns.number(index)));
        }
    }
    Ok(Some((part, columns, path_of(stored).to_owned())))
}

impl Seen {
    fn add(&mut self, part: &Part, columns: &Columns, path: PathBuf) {
        self.hashes.resize(part.count as usize, 0);
        self.files.push(path);
        for index in 0..columns.len() {
            let row = columns.number(index);
            let place = &mut self.hashes[(row - part.first_row) as usize];
            let hash = columns.hash(index).max(1);
            match *place {
                0 => *place = hash,
                same if same == hash => self.doubled.push(row),
                _ => {
                    self.doubled.push(row);
                    self.disagreeing.push(row);
                }
            }
        }
    }
}

impl Check {
    /// Whether all rows are there, once, and nothing else.
    pub fn is_good(&self) -> bool {
        self.missing.is_empty() && self.doubled.is_empty() && self.disagreeing.is_empty() && self.damaged.is_empty()
    }

    /// For people.
    pub fn text(&self, manifest: &Manifest) -> String {
        let mut text = String::new();
        let rows = |range: &Range<u64>| sentence(manifest, range);
        list(&mut text, &self.damaged, |(path, reason)| format!("damaged: {}: {reason}", name(path)));
        list(&mut text, &self.missing, |range| format!("missing: {}", rows(range)));
        let named = |paths: &[PathBuf]| paths.iter().map(|path| name(path)).collect::<Vec<_>>().join(" and ");
        list(&mut text, &self.doubled, |(range, paths)| format!("doubled: {}: in {}", rows(range), named(paths)));
        list(&mut text, &self.disagreeing, |(range, paths)| {
            format!("disagreeing: {}: in {}", rows(range), named(paths))
        });
        list(&mut text, &self.unfinished, |path| {
            format!(
                "note: {} is not finished: its writer still runs, or was ended; `campaign run` removes it then",
                name(path)
            )
        });
        list(&mut text, &self.again, |(writer, parts)| {
            let count = parts.len();
            format!(
                "note: two writers of one shard: {} wrote {count} parts that were there, with the same rows",
                escaped(writer)
            )
        });
        let _ = writeln!(text, "{} of {} rows are there", self.rows, self.expected);
        if !self.disagreeing.is_empty() {
            text += "rows that disagree were made by builds, programs or machines that differ: find out which is right, and remove the other file\n";
        } else if !self.doubled.is_empty() {
            text += "rows that are doubled agree: remove all but one of the files\n";
        }
        if !self.damaged.is_empty() || !self.missing.is_empty() {
            text += "run the shards again: what is there is not run twice, and parts that are damaged are replaced\n";
        }
        text
    }
}

fn name(path: &Path) -> String {
    escaped(&path.file_name().unwrap_or_default().to_string_lossy())
}

fn list<T>(text: &mut String, all: &[T], line: impl Fn(&T) -> String) {
    for one in all.iter().take(MOST_LINES) {
        let _ = writeln!(text, "{}", line(one));
    }
    if all.len() > MOST_LINES {
        let _ = writeln!(text, "… and {} more like this", all.len() - MOST_LINES);
    }
}

/// Rows, and of what they are.
fn sentence(manifest: &Manifest, range: &Range<u64>) -> String {
    let (first, last) = (range.start, range.end - 1);
    let mut text = format!("rows {first} to {last}");
    if let (Some(from), Some(to)) = (manifest.part_of_row(first), manifest.part_of_row(last)) {
        let _ = match from.number == to.number {
            true => write!(text, " (part {})", from.number),
            false => write!(text, " (parts {} to {})", from.number, to.number),
        };
        if (from.stratum, from.variant) == (to.stratum, to.variant) {
            let stratum = &manifest.strata[from.stratum];
            let trial = |row: u64, part: &Part| part.first + (row - part.first_row);
            let _ = write!(
                text,
                ": trials {} to {} of {} in {}, {}",
                trial(first, &from),
                trial(last, &to),
                escaped(&stratum.model),
                escaped(&report::demangled(&stratum.kernel)),
                escaped(&manifest.variants[from.variant])
            );
        }
    }
    text
}
