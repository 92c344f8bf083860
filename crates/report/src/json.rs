//! A report as JSON: one object on each line, findings first, the summary last. `docs/report-format.md` describes the
//! fields, and a test compares it with what is written here.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::ser::{Formatter, Serializer};

use crate::demangle::demangled;
use crate::escape::steers;
use crate::fidelity::Fidelity;
use crate::finding::{AccessOf, AccessedObject, Dim, Finding, Frame, Place, Severity, SourceLine, Stack};
use crate::report::{Checked, Exit, Found, Gap, Report, Run};
use crate::table::{Cell, Row};

/// Grows when a field changes its meaning or goes; not when one is added.
const FORMAT: u32 = 1;

/// All findings, those that a baseline knows after the others, the rows of tables, and the summary, a line each.
pub fn lines(report: &Report, run: &Run) -> String {
    let mut text = String::new();
    for found in &report.findings {
        text += &line(&FindingObject::of(found, false));
    }
    for found in &report.known {
        text += &line(&FindingObject::of(found, true));
    }
    for row in &report.rows {
        text += &line(&RowObject(row));
    }
    if let Some(fidelity) = Fidelity::of(&report.rows) {
        text += &line(&FidelityObject { r#type: "fidelity", format: FORMAT, fidelity });
    }
    text + &summary(report, run)
}

/// The summary alone, as one line.
pub fn summary(report: &Report, run: &Run) -> String {
    line(&SummaryObject::of(report, run))
}

/// What the tables of the tool of that name come to.
#[derive(Serialize)]
struct FidelityObject {
    r#type: &'static str,
    format: u32,
    #[serde(flatten)]
    fidelity: Fidelity,
}

/// A row: what all lines have, the tool, the table, and a field for each column.
struct RowObject<'a>(&'a Row);

impl Serialize for RowObject<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row { tool, table, cells } = self.0;
        let mut object = serializer.serialize_map(Some(4 + cells.len()))?;
        object.serialize_entry("type", "row")?;
        object.serialize_entry("format", &FORMAT)?;
        object.serialize_entry("tool", tool)?;
        object.serialize_entry("table", table)?;
        // A process may write what it likes, and a name stands once in an object.
        let mut names = BTreeSet::from(["type", "format", "tool", "table"]);
        for (name, cell) in cells.iter().filter(|(name, _)| names.insert(name)) {
            match cell {
                Cell::Text(text) => object.serialize_entry(name, text)?,
                Cell::Number(number) | Cell::Count(number) | Cell::Most(number) => {
                    object.serialize_entry(name, number)?
                }
            }
        }
        object.end()
    }
}

#[derive(Serialize)]
struct FindingObject<'a> {
    r#type: &'static str,
    format: u32,
    tool: &'a str,
    code: &'a str,
    severity: Severity,
    message: &'a str,
    kernel: Option<Kernel<'a>>,
    instruction: Option<Instruction<'a>>,
    lines: Vec<LineObject<'a>>,
    first: Option<OccurrenceObject>,
    count: u64,
    notes: Vec<NoteObject<'a>>,
    accesses: Vec<AccessObject<'a>>,
    object: Option<ObjectObject<'a>>,
    help: Option<&'a str>,
    stack: Vec<Call<'a>>,
    processes: &'a [u32],
    seed: Option<u64>,
    repeat: Option<&'a str>,
    fingerprint: &'a str,
    known: bool,
}

#[derive(Serialize)]
struct Kernel<'a> {
    name: String,
    symbol: &'a str,
}

#[derive(Serialize)]
struct Instruction<'a> {
    text: &'a str,
    line: Option<u32>,
}

#[derive(Serialize)]
struct LineObject<'a> {
    file: &'a str,
    line: u32,
    column: Option<u32>,
    function: Option<String>,
}

#[derive(Serialize)]
struct OccurrenceObject {
    block: Dim,
    thread: Dim,
    grid_size: Dim,
    block_size: Dim,
    launch: u64,
    /// As text: not every reader has integers of 64 bits.
    address: Option<String>,
}

#[derive(Serialize)]
struct AccessObject<'a> {
    what: &'a str,
    by: &'a str,
    kernel: Kernel<'a>,
    instruction: Option<Instruction<'a>>,
    lines: Vec<LineObject<'a>>,
    launch: u64,
    block: Option<Dim>,
    thread: Option<Dim>,
    barriers: Option<u64>,
}

#[derive(Serialize)]
struct ObjectObject<'a> {
    name: &'a str,
    bytes: u64,
    offset: i64,
    accessed: u64,
    freed: bool,
}

#[derive(Serialize)]
struct NoteObject<'a> {
    message: &'a str,
    stack: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Call<'a> {
    function: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    object: Option<&'a str>,
    offset: Option<String>,
}

impl<'a> FindingObject<'a> {
    fn of(found: &'a Found, known: bool) -> Self {
        let Found { finding, processes, seed, repeat, fingerprint } = found;
        let Finding { tool, code, message, place, .. } = finding;
        let place = place.as_ref();
        Self {
            r#type: "finding",
            format: FORMAT,
            tool,
            code,
            severity: finding.severity,
            message,
            kernel: place.map(|place| Kernel { name: demangled(&place.kernel), symbol: &place.kernel }),
            instruction: place.map(Instruction::of),
            lines: place.map_or_else(Vec::new, LineObject::all),
            first: finding.first.as_ref().map(|first| OccurrenceObject {
                block: first.block,
                thread: first.thread,
                grid_size: first.grid_size,
                block_size: first.block_size,
                launch: first.launch,
                address: first.address.map(|address| format!("{address:#x}")),
            }),
            count: finding.count,
            notes: finding
                .notes
                .iter()
                .map(|note| NoteObject { message: &note.message, stack: calls(note.stack.as_ref()) })
                .collect(),
            accesses: finding.accesses.iter().map(AccessObject::of).collect(),
            object: finding.object.as_ref().map(ObjectObject::of),
            help: finding.help.as_deref(),
            stack: calls(finding.stack.as_ref()),
            processes,
            seed: *seed,
            repeat: repeat.as_deref(),
            fingerprint,
            known,
        }
    }
}

impl<'a> ObjectObject<'a> {
    fn of(object: &'a AccessedObject) -> Self {
        let &AccessedObject { ref name, bytes, offset, accessed, is_freed } = object;
        Self { name, bytes, offset, accessed, freed: is_freed }
    }
}

impl<'a> Instruction<'a> {
    fn of(place: &'a Place) -> Self {
        Self { text: &place.instruction, line: Some(place.instruction_line).filter(|line| *line != 0) }
    }
}

impl<'a> AccessObject<'a> {
    fn of(access: &'a AccessOf) -> Self {
        let place = access.place.as_ref();
        Self {
            what: &access.what,
            by: &access.by,
            kernel: Kernel { name: demangled(&access.kernel), symbol: &access.kernel },
            instruction: place.map(Instruction::of),
            lines: place.map_or_else(Vec::new, LineObject::all),
            launch: access.launch,
            block: access.block,
            thread: access.thread,
            barriers: access.barriers,
        }
    }
}

impl<'a> LineObject<'a> {
    fn all(place: &'a Place) -> Vec<Self> {
        place.lines.iter().map(Self::of).collect()
    }

    fn of(line: &'a SourceLine) -> Self {
        Self {
            file: &line.file,
            line: line.line,
            column: Some(line.column).filter(|column| *column != 0),
            function: line.function.as_deref().map(demangled),
        }
    }
}

fn calls<'a>(stack: Option<&'a Stack>) -> Vec<Call<'a>> {
    let call = |frame: &'a Frame| match frame {
        &Frame::Code { ref object, offset } => Call {
            function: None,
            file: None,
            line: None,
            object: Some(object.as_str()),
            offset: Some(format!("{offset:#x}")),
        },
        Frame::Source { .. } | Frame::Script { .. } => {
            let (function, line) = frame.source().expect("these have a function");
            Call {
                function: Some(function),
                file: line.map(|line| line.file.as_str()),
                line: line.map(|line| line.line),
                object: None,
                offset: None,
            }
        }
    };
    stack.into_iter().flat_map(|stack| &stack.frames).map(call).collect()
}

#[derive(Serialize)]
struct SummaryObject<'a> {
    r#type: &'static str,
    format: u32,
    verdict: &'static str,
    tools: &'a [String],
    command: &'a [String],
    exit_code: Option<i32>,
    signal: Option<i32>,
    errors: usize,
    warnings: usize,
    suppressed: usize,
    known: usize,
    lost: u64,
    codes: BTreeMap<String, CountObject>,
    incomplete: Vec<String>,
    unused_suppressions: &'a [String],
    kernels: u64,
    launches: u64,
    proved_launches: u64,
    unchecked_launches: u64,
    processes: Vec<ProcessObject<'a>>,
}

#[derive(Serialize, Default)]
struct CountObject {
    findings: u64,
    count: u64,
}

#[derive(Serialize)]
struct ProcessObject<'a> {
    id: u32,
    program: &'a str,
    tools: &'a [String],
    seed: Option<u64>,
    repeat: Option<&'a str>,
    ended: bool,
    running: bool,
    signal: Option<i32>,
    findings: usize,
    kernels: u64,
    launches: u64,
    proved_launches: u64,
    unchecked_launches: u64,
    lost: u64,
    unreadable_lines: u64,
    unchecked: Vec<GapObject<'a>>,
    skipped: Vec<GapObject<'a>>,
}

#[derive(Serialize)]
struct GapObject<'a> {
    kernel: String,
    reason: &'a str,
}

impl<'a> SummaryObject<'a> {
    fn of(report: &'a Report, run: &'a Run) -> Self {
        let of = |severity| report.findings.iter().filter(|found| found.finding.severity == severity).count();
        let sum = |of: fn(&Checked) -> u64| report.processes.iter().fold(0_u64, |sum, one| sum.saturating_add(of(one)));
        let mut codes: BTreeMap<String, CountObject> = BTreeMap::new();
        for Found { finding, .. } in &report.findings {
            let entry = codes.entry(format!("{}::{}", finding.tool, finding.code)).or_default();
            entry.findings += 1;
            entry.count = entry.count.saturating_add(finding.count);
        }
        let (exit_code, signal) = match run.exit {
            Exit::Code(code) => (Some(code), None),
            Exit::Signal(signal) => (None, Some(signal)),
        };
        Self {
            r#type: "summary",
            format: FORMAT,
            verdict: report.verdict(run).name(),
            tools: &run.tools,
            command: &run.command,
            exit_code,
            signal,
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            suppressed: report.suppressed.len(),
            known: report.known.len(),
            lost: report.lost,
            codes,
            incomplete: report.incomplete(run),
            unused_suppressions: &report.unused_suppressions,
            kernels: sum(|one| one.coverage.kernels),
            launches: sum(|one| one.coverage.launches),
            proved_launches: sum(|one| one.coverage.proved_launches),
            unchecked_launches: sum(|one| one.coverage.unchecked_launches),
            processes: report.processes.iter().map(|checked| ProcessObject::of(checked, report)).collect(),
        }
    }
}

impl<'a> ProcessObject<'a> {
    fn of(checked: &'a Checked, report: &Report) -> Self {
        let gaps = |gaps: &'a [Gap]| {
            gaps.iter().map(|gap| GapObject { kernel: demangled(&gap.kernel), reason: &gap.reason }).collect()
        };
        let id = checked.process.id;
        Self {
            id,
            program: &checked.process.program,
            tools: &checked.process.tools,
            seed: checked.process.seed,
            repeat: checked.process.repeat.as_deref(),
            ended: checked.has_ended,
            running: checked.is_running,
            signal: checked.signal,
            findings: report.findings.iter().filter(|found| found.processes.contains(&id)).count(),
            kernels: checked.coverage.kernels,
            launches: checked.coverage.launches,
            proved_launches: checked.coverage.proved_launches,
            unchecked_launches: checked.coverage.unchecked_launches,
            lost: checked.coverage.lost,
            unreadable_lines: checked.unreadable_lines,
            unchecked: gaps(&checked.unchecked),
            skipped: gaps(&checked.skipped),
        }
    }
}

/// A value on one line.
pub(crate) fn line(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Harmless)).expect("writing to memory does not fail");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// JSON that may be shown on a terminal: what could steer it is escaped.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut units = [0; 2];
        for letter in fragment.chars() {
            if steers(letter) {
                for unit in letter.encode_utf16(&mut units) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            } else {
                write!(writer, "{letter}")?;
            }
        }
        Ok(())
    }
}
