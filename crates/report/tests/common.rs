//! Findings for tests, and the way from journals to a report.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use report::{
    AccessedObject, Counts, Coverage, Exit, Finding, Frame, Journal, Line, Look, Note, Occurrence, Place, Process,
    Report, Run, Session, Severity, SourceLine, Sources, Stack, Symbols,
};

/// A directory that removes itself.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("warpgrind-report-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }

    /// The journal of a process.
    pub(crate) fn journal(&self, id: u32, lines: &[Line]) {
        let counts = Counts { lines: lines.len() as u64 + 1, ..Counts::default() };
        self.journal_with_counts(id, lines, counts);
    }

    /// The journal of a process, and what it says to have done.
    pub(crate) fn journal_with_counts(&self, id: u32, lines: &[Line], counts: Counts) {
        let path = self.0.join(format!("{id}-1.journal"));
        let words = [counts.begun, counts.ended, counts.lines].map(u64::to_le_bytes).concat();
        std::fs::write(Counts::path(&path), words).expect("it is ours");
        let journal = Journal::create(&path).expect("it is new");
        let process = Line::Process(Process {
            id,
            program: "./app".into(),
            tools: vec!["memcheck".into()],
            seed: None,
            repeat: None,
        });
        for line in std::iter::once(&process).chain(lines) {
            journal.write(line).expect("it can be written");
        }
    }

    pub(crate) fn report(&self) -> Report {
        let mut session = Session::new(&self.0);
        session.poll().expect("the directory is there");
        let mut report = session.finish(|_| false);
        Symbols::default().resolve(&mut report);
        report
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn run() -> Run {
    Run {
        tools: vec!["memcheck".into()],
        command: vec!["./app".into()],
        exit: Exit::Code(0),
        requires_cuda: true,
        requires_kernels: false,
        warnings_count: false,
    }
}

pub(crate) fn look() -> Look {
    Look { color: false, most_findings: 100, most_callers: 8, with_suppressions: false }
}

pub(crate) fn sources() -> Sources {
    Sources::below([Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/source")])
}

pub(crate) fn text(report: &Report) -> String {
    report::render(report, &run(), &look(), &mut sources())
}

pub(crate) fn source(function: &str, file: &str, line: u32) -> Frame {
    let line = SourceLine { file: file.into(), line, column: 0, function: None };
    Frame::Source { function: function.into(), line: Some(line) }
}

pub(crate) fn stack(frames: impl IntoIterator<Item = Frame>) -> Option<Stack> {
    Some(Stack { frames: frames.into_iter().collect() })
}

/// The finding of STYLE.md.
pub(crate) fn out_of_bounds() -> Finding {
    Finding {
        tool: "memcheck".into(),
        code: "out-of-bounds".into(),
        severity: Severity::Error,
        message: "out-of-bounds write of 4 bytes".into(),
        place: Some(Place {
            kernel: "_Z6vecaddPKfS0_Pfi".into(),
            instruction: "st.global.f32 [%rd8], %f3;".into(),
            instruction_line: 41,
            lines: vec![SourceLine { file: "vecadd.cu".into(), line: 7, column: 5, function: None }],
        }),
        first: Some(Occurrence {
            block: [0, 0, 0],
            thread: [100, 0, 0],
            grid_size: [1, 1, 1],
            block_size: [128, 1, 1],
            launch: 1,
            address: Some(0x7f00_0000_0190),
        }),
        count: 28,
        notes: vec![
            Note { message: "the address is 0 bytes past an allocation of 400 bytes".into(), stack: None },
            Note { message: "allocated here".into(), stack: stack([source("main", "vecadd.cu", 13)]) },
        ],
        accesses: Vec::new(),
        object: Some(AccessedObject {
            name: "an allocation".into(),
            bytes: 400,
            offset: 400,
            accessed: 4,
            is_freed: false,
        }),
        help: Some(
            "`i` is not compared with the array's length; see `warpgrind explain memcheck::out-of-bounds`".into(),
        ),
        stack: stack([source("main", "vecadd.cu", 14)]),
    }
}

pub(crate) fn coverage(kernels: u64, launches: u64) -> Line {
    Line::Coverage(Coverage { kernels, launches, unchecked_launches: 0, ..Coverage::default() })
}

pub(crate) fn found(finding: Finding) -> Line {
    Line::Finding(Box::new(finding))
}

/// Compares with a file beside the test, or rewrites it under `BLESS=1`.
#[track_caller]
pub(crate) fn expect(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, actual).expect("the tree is writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{name} differs; BLESS=1 rewrites it:\n{actual}");
}
