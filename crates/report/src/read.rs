//! Reading what the processes of a run have written, while they run and afterwards.
//!
//! The programs that are checked write these files, and a program may be broken or hostile: nothing in them is trusted,
//! sizes and counts are bounded, and what cannot be read is counted.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::finding::{Finding, Occurrence};
use crate::journal::{Counts, Coverage, LONGEST_LINE, Line, Process};
use crate::regular_file::open_regular;
use crate::report::{Checked, Found, Gap, Report};
use crate::table::Row;

/// More files are not read.
const MOST_JOURNALS: usize = 1 << 16;
/// More of a file is not read.
const LARGEST_JOURNAL: u64 = 256 << 20;
/// More findings are counted, and not kept.
const MOST_FINDINGS: usize = 10_000;
/// More rows of tables are counted, and not kept.
const MOST_ROWS: usize = 200_000;
/// Findings that are longer together are counted, and not kept.
const MOST_BYTES: usize = 256 << 20;
/// More kernels that are not checked are counted, and not named.
const MOST_GAPS: usize = 1000;

/// The directory in which the processes of a run write.
#[derive(Debug)]
pub struct Session {
    directory: PathBuf,
    journals: BTreeMap<OsString, Reader>,
    findings: Findings,
    /// Files that were too many.
    left_out: bool,
}

/// What is known while the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Progress {
    /// Processes that use CUDA.
    pub processes: usize,
    /// Kernels that were launched, checked or not.
    pub launches: u64,
    /// Findings.
    pub findings: usize,
}

impl Session {
    /// The files are in this directory.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            journals: BTreeMap::new(),
            findings: Findings::default(),
            left_out: false,
        }
    }

    /// Reads what was written since the last time.
    pub fn poll(&mut self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if !name.as_encoded_bytes().ends_with(b".journal") || self.journals.contains_key(&name) {
                continue;
            }
            if self.journals.len() == MOST_JOURNALS {
                self.left_out = true;
                break;
            }
            self.journals.insert(name, Reader::default());
        }
        for (name, reader) in &mut self.journals {
            if reader.poll(&self.directory.join(name), &mut self.findings).is_err() {
                reader.is_lost = true;
            }
        }
        Ok(())
    }

    /// How far the program is.
    pub fn progress(&self) -> Progress {
        let coverage = self.journals.values().map(|reader| &reader.coverage);
        Progress {
            processes: self.journals.values().filter(|reader| reader.process.is_some()).count(),
            launches: coverage.fold(0, |sum, coverage| {
                sum.saturating_add(coverage.launches).saturating_add(coverage.unchecked_launches)
            }),
            findings: self.findings.list.len(),
        }
    }

    /// The rows of tables so far, in the order in which they were read.
    pub fn rows(&self) -> &[Row] {
        &self.findings.rows.list
    }

    /// Whether a process has written anything.
    pub fn knows(&self, id: u32) -> bool {
        self.journals.values().filter_map(|reader| reader.process.as_ref()).any(|process| process.id == id)
    }

    /// The numbers of the processes that have not said that they ended.
    pub fn unfinished(&self) -> impl Iterator<Item = u32> {
        let open = self.journals.values().filter(|reader| !reader.has_ended);
        open.filter_map(|reader| reader.process.as_ref().map(|process| process.id))
    }

    /// All that was written. Those of the processes that `is_running` knows are marked.
    pub fn finish(self, is_running: impl Fn(u32) -> bool) -> Report {
        let mut unreadable_journals = u64::from(self.left_out);
        let mut processes = Vec::new();
        for (name, reader) in self.journals {
            let Some(process) = reader.process.clone() else {
                unreadable_journals += 1;
                continue;
            };
            let cut = u64::from(reader.is_cut || reader.is_lost);
            let is_running = !reader.has_ended && is_running(process.id);
            let counts = Counts::read(&self.directory.join(name));
            let is_accounted = is_running || counts.as_ref().is_ok_and(|counts| reader.accounts_for(counts));
            processes.push(Checked {
                is_running,
                signal: reader.signal,
                ended_in_a_kernel: !reader.has_ended && !is_running && counts.is_ok_and(Counts::is_in_a_kernel),
                process,
                coverage: reader.coverage,
                unchecked: reader.unchecked,
                skipped: reader.skipped,
                has_ended: reader.has_ended,
                is_accounted,
                unreadable_lines: reader.unreadable_lines + cut,
            });
        }
        let lost = processes.iter().map(|checked| checked.coverage.lost);
        let lost = lost.fold(self.findings.lost, u64::saturating_add);
        processes.sort_by_key(|checked| checked.process.id);
        let Rows { list: mut rows, lost: lost_rows, .. } = self.findings.rows;
        // Their order within a table is the tool's.
        rows.sort_by(|a, b| (&a.tool, &a.table).cmp(&(&b.tool, &b.table)));
        let mut findings = self.findings.list;
        findings.sort_by_cached_key(|found| order(&found.finding));
        Report { findings, processes, unreadable_journals, lost, rows, lost_rows, ..Report::default() }
    }
}

/// One file.
#[derive(Default, Debug)]
struct Reader {
    /// Where the first line begins that was not read to its end.
    offset: u64,
    /// In the middle of a line that is too long.
    skips: bool,
    /// The end of the file is not the end of a line.
    is_cut: bool,
    /// The file cannot be read, or no further.
    is_lost: bool,
    process: Option<Process>,
    coverage: Coverage,
    unchecked: Vec<Gap>,
    skipped: Vec<Gap>,
    signal: Option<i32>,
    has_ended: bool,
    /// All lines, with those that could not be understood.
    lines: u64,
    unreadable_lines: u64,
    /// Which of all findings each line `Finding` is; nothing for those that could not be read or kept.
    findings: Vec<Option<usize>>,
}

impl Reader {
    fn poll(&mut self, path: &Path, findings: &mut Findings) -> io::Result<()> {
        if self.is_lost {
            return Ok(());
        }
        let mut file = open_regular(path)?;
        let length = file.metadata()?.len();
        if length <= self.offset {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let end = length.min(LARGEST_JOURNAL);
        let mut input = BufReader::with_capacity(64 << 10, file.take(end.saturating_sub(self.offset)));
        let mut line = Vec::new();
        let mut chunk = [0; 16 << 10];
        loop {
            let count = input.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            let mut rest = &chunk[..count];
            while let Some(newline) = rest.iter().position(|&byte| byte == b'\n') {
                line.extend_from_slice(&rest[..newline]);
                rest = &rest[newline + 1..];
                self.offset += line.len() as u64 + 1;
                self.line(&line, findings);
                line.clear();
            }
            line.extend_from_slice(rest);
            if line.len() > LONGEST_LINE {
                // The beginning is enough to know what it would have been.
                if !self.skips {
                    self.unreadable(&line, findings);
                }
                self.skips = true;
                self.offset += line.len() as u64;
                line.clear();
            }
        }
        self.is_cut = !line.is_empty() || self.skips;
        self.is_lost = length > LARGEST_JOURNAL;
        Ok(())
    }

    /// Takes a whole line, or the end of one that was too long.
    fn line(&mut self, line: &[u8], findings: &mut Findings) {
        self.lines += 1;
        if std::mem::take(&mut self.skips) {
            return;
        }
        match serde_json::from_slice(line) {
            Ok(Line::Process(process)) => self.process = self.process.take().or(Some(process)),
            Ok(Line::Finding(finding)) => {
                let process = self.process.as_ref();
                self.findings.push(findings.add(*finding, process, line.len()));
            }
            Ok(Line::Row(row)) => findings.add_row(row, line.len()),
            Ok(Line::Again(index, count)) => match self.findings.get(index) {
                Some(Some(finding)) => findings.again(*finding, count),
                Some(None) => {}
                None => self.unreadable_lines += 1,
            },
            Ok(Line::Unchecked { kernel, reason }) => note_gap(&mut self.unchecked, kernel, reason),
            Ok(Line::Skipped { kernel, reason }) => note_gap(&mut self.skipped, kernel, reason),
            Ok(Line::Coverage(coverage)) => self.coverage = coverage,
            Ok(Line::Signal(signal)) => self.signal = Some(signal),
            Ok(Line::End) => self.has_ended = true,
            Err(_) => self.unreadable(line, findings),
        }
    }

    /// Whether the journal has all that the process has done. One that did not end in an orderly way may not have said how
    /// many launches there were.
    fn accounts_for(&self, counts: &Counts) -> bool {
        let launches = self.coverage.launches.saturating_add(self.coverage.unchecked_launches);
        self.lines >= counts.lines && (!self.has_ended || launches >= counts.begun)
    }

    fn unreadable(&mut self, line: &[u8], findings: &mut Findings) {
        self.unreadable_lines += 1;
        // Later lines count findings.
        if line.starts_with(b"{\"finding\":") {
            self.findings.push(None);
            findings.lost = findings.lost.saturating_add(1);
        }
    }
}

fn note_gap(gaps: &mut Vec<Gap>, kernel: String, reason: String) {
    let gap = Gap { kernel, reason };
    if gaps.len() < MOST_GAPS && !gaps.contains(&gap) {
        gaps.push(gap);
    }
}

/// The findings of all processes, each once.
#[derive(Default, Debug)]
struct Findings {
    list: Vec<Found>,
    by_key: HashMap<String, usize>,
    bytes: usize,
    lost: u64,
    rows: Rows,
}

/// The rows of all processes, those of the same in one.
#[derive(Default, Debug)]
struct Rows {
    list: Vec<Row>,
    /// Where the rows are that are of the same, by what they are of.
    by_key: HashMap<String, usize>,
    lost: u64,
}

impl Findings {
    fn add(&mut self, finding: Finding, process: Option<&Process>, bytes: usize) -> Option<usize> {
        let key = key(&finding);
        if let Some(&index) = self.by_key.get(&key) {
            self.list[index].merge(finding, process);
            return Some(index);
        }
        if self.list.len() == MOST_FINDINGS || self.bytes.saturating_add(bytes) > MOST_BYTES {
            self.lost = self.lost.saturating_add(finding.count);
            return None;
        }
        self.bytes += bytes;
        self.by_key.insert(key, self.list.len());
        let processes = process.map(|process| process.id).into_iter().collect();
        self.list.push(Found {
            finding,
            processes,
            seed: process.and_then(|process| process.seed),
            repeat: process.and_then(|process| process.repeat.clone()),
            fingerprint: String::new(),
        });
        Some(self.list.len() - 1)
    }

    fn add_row(&mut self, row: Row, bytes: usize) {
        let key = row.key();
        if let Some(&index) = self.rows.by_key.get(&key) {
            return self.rows.list[index].add(&row);
        }
        if self.rows.list.len() == MOST_ROWS || self.bytes.saturating_add(bytes) > MOST_BYTES {
            self.rows.lost = self.rows.lost.saturating_add(1);
            return;
        }
        self.bytes += bytes;
        self.rows.by_key.insert(key, self.rows.list.len());
        self.rows.list.push(row);
    }

    fn again(&mut self, index: usize, count: u64) {
        let total = &mut self.list[index].finding.count;
        *total = total.saturating_add(count);
    }
}

impl Found {
    /// Takes in another time that it was found. The one that comes first in the program's own order is shown, not the
    /// one that was seen first.
    fn merge(&mut self, other: Finding, process: Option<&Process>) {
        let count = self.finding.count.saturating_add(other.count);
        if rank(&other) < rank(&self.finding) {
            self.finding = other;
            self.seed = process.and_then(|process| process.seed);
            self.repeat = process.and_then(|process| process.repeat.clone());
        }
        self.finding.count = count;
        if let Some(process) = process
            && let Err(at) = self.processes.binary_search(&process.id)
        {
            self.processes.insert(at, process.id);
        }
    }
}

/// What makes two findings one.
fn key(finding: &Finding) -> String {
    let stack = if finding.place.is_none() { &finding.stack } else { &None };
    let key = (&finding.tool, &finding.code, finding.severity, &finding.message, &finding.place, stack);
    serde_json::to_string(&key).expect("strings and numbers can be written")
}

/// Which of two occurrences comes first.
fn rank(finding: &Finding) -> impl Ord + use<> {
    let place = |first: &Occurrence| {
        let [bx, by, bz] = first.block;
        let [tx, ty, tz] = first.thread;
        (first.launch, [bz, by, bx], [tz, ty, tx], first.grid_size, first.block_size)
    };
    (finding.first.as_ref().map(place), serde_json::to_string(&finding.notes).unwrap_or_default())
}

/// The order of findings in a report: it does not depend on who was faster, nor on where libraries are installed.
fn order(finding: &Finding) -> impl Ord + use<> {
    let place = finding.place.as_ref();
    // The line of the kernel, and not the one of a header that was inlined there.
    let line = place.and_then(|place| place.lines.last());
    (
        place.is_none(),
        place.map(|place| place.kernel.clone()),
        line.map(|line| (line.file.clone(), line.line, line.column)),
        place.map(|place| place.instruction_line),
        finding.tool.clone(),
        finding.code.clone(),
        key(finding),
    )
}
