//! From journals to text.

mod common;

use std::fs;
use std::io::Write;

use common::*;
use report::{AccessOf, Counts, Coverage, Exit, Frame, Line, Note, Severity, SourceLine, Verdict};

fn report_of(lines: &[Line]) -> report::Report {
    let scratch = Scratch::new();
    scratch.journal(100, lines);
    scratch.report()
}

#[test]
fn a_finding_with_its_source() {
    expect("out_of_bounds.txt", &text(&report_of(&[found(out_of_bounds()), coverage(1, 1), Line::End])));
}

#[test]
fn a_finding_without_the_source_file() {
    let mut finding = out_of_bounds();
    let place = finding.place.as_mut().expect("it has one");
    place.lines = vec![
        SourceLine { file: "/far/away/helper.h".into(), line: 3, column: 9, function: Some("_Z4loadPKfi".into()) },
        SourceLine {
            file: "/far/away/kernel.cu".into(),
            line: 30,
            column: 0,
            function: Some("_Z6vecaddPKfS0_Pfi".into()),
        },
    ];
    finding.count = 1;
    finding.help = None;
    finding.stack = stack([
        source("solve<float>", "/far/away/solve.cu", 17),
        Frame::Source { function: "run".into(), line: None },
        Frame::Code { object: "/usr/lib/libnothing.so.1".into(), offset: 0x1234 },
    ]);
    expect("no_source.txt", &text(&report_of(&[found(finding), coverage(1, 1), Line::End])));
}

#[test]
fn a_finding_without_line_information() {
    let mut finding = out_of_bounds();
    finding.place.as_mut().expect("it has one").lines.clear();
    expect("no_lines.txt", &text(&report_of(&[found(finding), coverage(1, 1), Line::End])));
}

fn double_free() -> report::Finding {
    report::Finding {
        code: "double-free".into(),
        message: "memory is freed twice".into(),
        place: None,
        first: None,
        count: 3,
        notes: vec![Note { message: "freed here before".into(), stack: stack([source("main", "vecadd.cu", 14)]) }],
        accesses: Vec::new(),
        help: None,
        stack: stack([source("release", "vecadd.cu", 13), source("main", "vecadd.cu", 15)]),
        ..out_of_bounds()
    }
}

#[test]
fn a_finding_of_the_host() {
    let mut leak = double_free();
    leak.code = "leak".into();
    leak.severity = Severity::Warning;
    leak.message = "400 bytes are never freed".into();
    leak.count = 1;
    leak.notes.clear();
    leak.stack = stack([Frame::Code { object: "/opt/app/app".into(), offset: 0x1234 }]);
    expect("host.txt", &text(&report_of(&[found(double_free()), found(leak), coverage(1, 1), Line::End])));
}

/// Colours change nothing else.
#[test]
fn colours() {
    let report = report_of(&[found(out_of_bounds()), found(double_free())]);
    let mut look = look();
    look.color = true;
    let styled = report::render(&report, &run(), &look, &mut sources());
    assert!(styled.contains("\x1b[1m"), "{styled}");
    assert_eq!(anstream::adapter::strip_str(&styled).to_string(), text(&report));
}

/// What a program can put into names must not reach the terminal.
#[test]
fn hostile_names() {
    let nasty = "\x1b[31mred\u{202e}evil\u{2028}\n\r\u{9b}1m\"<b>]]>&\0\u{7f}\u{200b}end";
    let mut finding = out_of_bounds();
    for text in [&mut finding.tool, &mut finding.code, &mut finding.message] {
        *text = nasty.into();
    }
    let place = finding.place.as_mut().expect("it has one");
    place.kernel = nasty.into();
    place.instruction = nasty.into();
    place.lines.push(SourceLine { file: nasty.into(), line: u32::MAX, column: u32::MAX, function: Some(nasty.into()) });
    finding.notes.push(Note { message: nasty.into(), stack: None });
    finding.notes.push(Note { message: nasty.into(), stack: stack([source(nasty, nasty, 1)]) });
    finding.help = Some(nasty.into());
    finding.stack = stack([source(nasty, nasty, 1), Frame::Code { object: nasty.into(), offset: 1 }]);
    let gap = |reason: &str| Line::Unchecked { kernel: nasty.into(), reason: reason.into() };
    let lines = [found(finding), gap(nasty), Line::Skipped { kernel: nasty.into(), reason: nasty.into() }, Line::End];
    let mut report = report_of(&lines);
    report.unused_suppressions = vec![nasty.into()];
    let mut look = look();
    look.with_suppressions = true;
    let shown = report::render(&report, &run(), &look, &mut sources());
    let json = report::json::lines(&report, &run());
    for text in [&shown, &json] {
        assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text:?}");
        assert!(!text.contains(['\u{202e}', '\u{2028}', '\u{200b}']), "{text:?}");
    }
    assert_eq!(json.lines().count(), 2);
    for line in json.lines() {
        let value: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        if value["type"] == "finding" {
            assert_eq!(value["message"], nasty);
        }
    }
    expect("hostile_names.txt", &shown);
}

#[test]
fn hostile_source_lines() {
    let scratch = Scratch::new();
    fs::write(scratch.0.join("vecadd.cu"), "\n\n\n\n\n\n\x1b\u{202e}  c[i] = 1; \u{9b}\x07\n").expect("writable");
    let mut sources = report::Sources::below([scratch.0.clone()]);
    let shown = report::render(&report_of(&[found(out_of_bounds())]), &run(), &look(), &mut sources);
    assert!(shown.contains("c[i] = 1;"), "{shown}");
    assert!(shown.chars().all(|letter| letter == '\n' || !letter.is_control()), "{shown:?}");
    assert!(!shown.contains('\u{202e}'));
}

#[test]
fn names_of_a_megabyte() {
    let mut finding = out_of_bounds();
    let long = "n".repeat(1 << 20);
    finding.place.as_mut().expect("it has one").kernel = long.clone();
    finding.message = long.clone();
    finding.notes =
        vec![
            Note { message: long.clone(), stack: stack((0..1000).map(|_| source(&long[..9999], &long[..9999], 1))) };
            20
        ];
    let report = report_of(&[found(finding), Line::Again(0, 5), coverage(1, 1), Line::End]);
    assert_eq!(report.findings[0].finding.count, 33);
    assert_eq!(report.processes[0].unreadable_lines, 0);
    assert!(text(&report).len() < 1 << 20);
}

#[test]
fn what_two_processes_found_is_one_finding() {
    let scratch = Scratch::new();
    let mut other = out_of_bounds();
    other.first.as_mut().expect("it has one").thread = [7, 1, 0];
    let mut before = out_of_bounds();
    before.first.as_mut().expect("it has one").thread = [99, 0, 0];
    before.count = 1;
    let mut elsewhere = out_of_bounds();
    elsewhere.place.as_mut().expect("it has one").lines[0].column = 12;
    elsewhere.message = "out-of-bounds read of 4 bytes".into();
    scratch.journal(100, &[found(other), Line::Again(0, 1000), coverage(1, 2)]);
    scratch.journal(
        200,
        &[found(elsewhere), found(before), Line::Again(1, 7), Line::Again(0, 1), coverage(3, 40), Line::End],
    );
    scratch.journal(150, &[found(double_free()), Line::End]);
    let report = scratch.report();
    assert_eq!(report.findings.len(), 3);
    assert_eq!(report.findings[0].finding.count, 28 + 1000 + 1 + 7);
    assert_eq!(report.findings[0].processes, [100, 200]);
    expect("two_processes.txt", &text(&report));
}

#[test]
fn what_cannot_be_read_is_counted_and_the_rest_is_kept() {
    let scratch = Scratch::new();
    let path = scratch.0.join("100-1.journal");
    scratch.journal(100, &[found(out_of_bounds())]);
    let mut file = fs::OpenOptions::new().append(true).open(&path).expect("it is there");
    let mut add = |text: &[u8]| file.write_all(text).expect("writable");
    add(b"not JSON\n\xff\xfe\n{\"again\":[99,1]}\n");
    add(format!("{}\n", "[".repeat(100_000)).as_bytes());
    add(format!("{{\"finding\":{{\"tool\":\"{}\"}}}}\n", "x".repeat(3 << 20)).as_bytes());
    add(b"{\"again\":[1,5]}\n{\"again\":[0,2]}\n");
    add(b"{\"coverage\":{\"kernels\":1,\"launches\":18446744073709551615,\"unchecked_launches\":9,\"lost\":0}}\n");
    add(b"{\"finding\":{\"tool\":\"mem");
    // Files of other kinds.
    fs::create_dir(scratch.0.join("7-1.journal")).expect("writable");
    std::os::unix::fs::symlink("/dev/zero", scratch.0.join("8-1.journal")).expect("writable");
    assert!(
        std::process::Command::new("mkfifo").arg(scratch.0.join("9-1.journal")).status().expect("mkfifo").success()
    );
    fs::write(scratch.0.join("10-1.journal"), "\n\n").expect("writable");
    let report = scratch.report();
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].finding.count, 30);
    assert_eq!(report.processes[0].unreadable_lines, 6);
    assert_eq!(report.unreadable_journals, 4);
    assert_eq!(report.processes[0].coverage.unchecked_launches, 9);
    expect("unreadable.txt", &text(&report));
}

/// Journals are read while they are written, in whatever pieces.
#[test]
fn reading_while_it_is_written() {
    let scratch = Scratch::new();
    scratch.journal(5, &[found(out_of_bounds()), Line::Again(0, 3), coverage(1, 1), Line::End]);
    let path = scratch.0.join("5-1.journal");
    let bytes = fs::read(&path).expect("readable");
    fs::write(&path, "").expect("writable");
    let mut session = report::Session::new(&scratch.0);
    for piece in bytes.chunks(97) {
        let mut file = fs::OpenOptions::new().append(true).open(&path).expect("it is there");
        file.write_all(piece).expect("writable");
        session.poll().expect("readable");
    }
    assert_eq!(session.progress(), report::Progress { processes: 1, launches: 1, findings: 1 });
    assert_eq!(session.unfinished().count(), 0);
    assert_eq!(session.finish(|_| true), scratch.report_without_symbols());
}

impl Scratch {
    fn report_without_symbols(&self) -> report::Report {
        let mut session = report::Session::new(&self.0);
        session.poll().expect("the directory is there");
        session.finish(|_| false)
    }
}

#[test]
fn very_many_findings_are_bounded() {
    let scratch = Scratch::new();
    let lines: Vec<Line> = (0..12_000)
        .map(|index| {
            let mut finding = out_of_bounds();
            finding.place.as_mut().expect("it has one").lines[0].line = 100 + index;
            found(finding)
        })
        .collect();
    scratch.journal(1, &lines);
    let report = scratch.report();
    assert_eq!((report.findings.len(), report.lost), (10_000, 2000 * 28));
    let mut look = look();
    look.most_findings = 1;
    let shown = report::render(&report, &run(), &look, &mut sources());
    assert!(shown.contains("9999 more findings; --print-limit"), "{shown}");
    assert!(shown.len() < 3000, "{shown}");
}

#[test]
fn verdicts() {
    let mut warning = out_of_bounds();
    warning.severity = Severity::Warning;
    let mut run = run();
    let empty = Scratch::new().report();
    assert_eq!(empty.verdict(&run), Verdict::NotChecked);
    run.requires_cuda = false;
    assert_eq!(empty.verdict(&run), Verdict::Clean);
    run.requires_cuda = true;
    let ended = report_of(&[Line::End]);
    assert_eq!(ended.verdict(&run), Verdict::Clean);
    run.exit = Exit::Signal(11);
    assert_eq!(report_of(&[]).verdict(&run), Verdict::EndedBySignal);
    assert_eq!(empty.verdict(&run), Verdict::NotChecked);
    assert_eq!(report_of(&[found(out_of_bounds())]).verdict(&run), Verdict::Findings);
    let warned = report_of(&[found(warning)]);
    assert_eq!(warned.verdict(&run), Verdict::EndedBySignal);
    run.exit = Exit::Code(3);
    assert_eq!(warned.verdict(&run), Verdict::Clean);
    run.warnings_count = true;
    assert_eq!(warned.verdict(&run), Verdict::Findings);
    // A program goes on without a process of it that was ended.
    run.warnings_count = false;
    assert_eq!(report_of(&[Line::Signal(11)]).verdict(&run), Verdict::NotChecked);
    assert_eq!(report_of(&[found(out_of_bounds()), Line::Signal(11)]).verdict(&run), Verdict::Findings);
    assert_eq!(report_of(&[Line::Signal(15)]).verdict(&run), Verdict::Clean, "it was asked to end");
    run.exit = Exit::Signal(11);
    assert_eq!(report_of(&[Line::Signal(11)]).verdict(&run), Verdict::EndedBySignal);
    run.exit = Exit::Code(3);
    let gap =
        |line: fn(String, String) -> Line| report_of(&[line("k".into(), "it is machine code only".into()), Line::End]);
    assert_eq!(gap(|kernel, reason| Line::Unchecked { kernel, reason }).verdict(&run), Verdict::NotChecked);
    assert_eq!(gap(|kernel, reason| Line::Skipped { kernel, reason }).verdict(&run), Verdict::Clean);
    run.tools.push("racecheck".into());
    assert_eq!(ended.verdict(&run), Verdict::NotChecked);
    let lost = report_of(&[Line::Coverage(Coverage { lost: 1, ..Coverage::default() }), Line::End]);
    run.tools.pop();
    assert_eq!(lost.verdict(&run), Verdict::Findings);
}

#[test]
fn a_process_that_ends_in_the_middle_of_a_kernel() {
    let sentence = |begun: u64, lines: &[Line]| {
        let scratch = Scratch::new();
        let counts = Counts { begun, ended: 1, lines: lines.len() as u64 + 1 };
        let lines = [&[coverage(1, begun)], lines].concat();
        scratch.journal_with_counts(7, &lines, counts);
        scratch.report().incomplete(&run())
    };
    let [killed, asked] = [&[][..], &[Line::Signal(15)]].map(|lines| sentence(2, lines));
    assert!(killed[0].contains("was ended in the middle of a kernel; what it had still to do"), "{killed:?}");
    assert!(asked[0].contains("was ended by SIGTERM in the middle of a kernel"), "{asked:?}");
    assert!(sentence(1, &[]).is_empty(), "it may have called _exit");
    assert!(sentence(2, &[Line::End]).is_empty());
}

#[test]
fn what_a_process_did_and_the_journal_does_not_have() {
    let sentences = |counts: Counts| {
        let scratch = Scratch::new();
        scratch.journal_with_counts(7, &[coverage(1, 2), Line::End], counts);
        scratch.report().incomplete(&run())
    };
    let all = Counts { begun: 2, ended: 2, lines: 3 };
    assert!(sentences(all).is_empty());
    for lost in [Counts { lines: 4, ..all }, Counts { begun: 3, ended: 3, ..all }] {
        let lost = sentences(lost);
        assert!(lost[0].contains("launched or found was lost"), "{lost:?}");
    }
    let scratch = Scratch::new();
    scratch.journal(7, &[Line::End]);
    std::fs::remove_file(scratch.0.join("7-1.records")).expect("it is there");
    assert_eq!(scratch.report().verdict(&run()), Verdict::NotChecked, "nobody knows what it did");
}

#[test]
fn a_process_that_may_still_use_cuda() {
    let mut report = report_of(&[Line::End]);
    assert_eq!(report.verdict(&run()), Verdict::Clean);
    report.left_running.push((9, "./worker".into()));
    assert_eq!(report.verdict(&run()), Verdict::NotChecked);
    let sentences = report.incomplete(&run());
    assert!(sentences[0].contains("process 9 (./worker) is still running"), "{sentences:?}");
}

#[test]
fn calls_of_a_script_are_shown_whatever_they_are_called() {
    let script = |function: &str, line: u32| Frame::Script {
        function: function.into(),
        line: SourceLine { file: "train\x1b[31m.py".into(), line, column: 0, function: None },
    };
    let mut finding = out_of_bounds();
    // Below `main` of C there is nothing of the user's; below one of Python there is.
    finding.stack = stack([script("Trainer.step", 7), script("main", 30), script("<module>", 33)]);
    let report = report_of(&[found(finding), Line::End]);
    let shown = text(&report);
    let launched = "note: launched here: Trainer.step at train\\u{1b}[31m.py:7\n      by main at train\\u{1b}[31m.py:30\n      by <module> at train\\u{1b}[31m.py:33\n";
    assert!(shown.contains(launched), "{shown}");
    let json = report::json::lines(&report, &run());
    assert!(
        json.contains(r#"{"function":"<module>","file":"train\u001b[31m.py","line":33,"object":null,"offset":null}"#),
        "{json}"
    );
}

#[test]
fn where_only_the_kernel_is_known() {
    let mut finding = out_of_bounds();
    let place = finding.place.as_mut().expect("it has one");
    place.instruction.clear();
    place.instruction_line = 0;
    place.lines.clear();
    let shown = text(&report_of(&[found(finding), Line::End]));
    assert!(shown.contains("--> kernel vecadd\n"), "{shown}");
    assert!(!shown.contains("lineinfo") && !shown.contains("PTX line"), "{shown}");
}

#[test]
fn calls_of_packages_are_one_line() {
    let script = |function: &str, file: &str, line: u32| Frame::Script {
        function: function.into(),
        line: SourceLine { file: file.into(), line, column: 0, function: None },
    };
    let package = "/venv/lib/python3.11/site-packages/numba_cuda/driver.py";
    let frames = [
        Frame::Code { object: "/venv/lib/python3.11/site-packages/cuda/cydriver.so".into(), offset: 5 },
        Frame::Source { function: "dispatch".into(), line: None },
        script("memalloc", package, 7),
        script("to_device", package, 8),
        script("train", "train.py", 3),
        script("<module>", "train.py", 9),
        script("_run_code", "<frozen runpy>", 88),
    ];
    let shown = |look: &report::Look| {
        let mut finding = out_of_bounds();
        finding.stack = stack(frames.clone());
        report::render(&report_of(&[found(finding), Line::End]), &run(), look, &mut sources())
    };
    let expected = "launched here: 4 calls of cuda, numba_cuda\n      by train at train.py:3\n      by <module> at train.py:9\n      by _run_code at <frozen runpy>:88\n";
    assert!(shown(&look()).contains(expected), "{}", shown(&look()));
    let mut two = look();
    two.most_callers = 2;
    assert!(shown(&two).contains("by train at train.py:3\n      and 2 more calls\n"), "{}", shown(&two));
    let mut all = look();
    all.most_callers = usize::MAX;
    assert!(shown(&all).contains("launched here: cydriver.so+0x5\n      by dispatch\n"), "{}", shown(&all));
    // What the host did wrong is shown where the program did it.
    let mut host = out_of_bounds();
    (host.place, host.first, host.stack) = (None, None, stack(frames.clone()));
    let text = text(&report_of(&[found(host), Line::End]));
    assert!(text.contains("--> train.py:3 in train\n"), "{text}");
}

fn race() -> report::Finding {
    let mut finding = out_of_bounds();
    finding.code = "data-race".into();
    finding.message = "read of 4 bytes of shared memory races with a write".into();
    finding.notes = vec![Note { message: "there is no barrier between them".into(), stack: None }];
    let access = |what: &str, thread: u32| AccessOf {
        what: what.into(),
        by: format!("block (0,0,0) thread ({thread},0,0)"),
        place: finding.place.clone(),
        kernel: "_Z6vecaddPKfS0_Pfi".into(),
        launch: 1,
        block: Some([0; 3]),
        thread: Some([thread, 0, 0]),
        barriers: Some(3),
    };
    finding.accesses = vec![access("write", 3), access("read", 40)];
    finding
}

#[test]
fn a_race_is_drawn() {
    let report = report_of(&[found(race()), coverage(1, 1), Line::End]);
    expect("race.svg", &report::svg(&report, &mut sources()));
}

#[test]
fn names_do_not_leave_the_text_of_a_picture() {
    let mut hostile = race();
    hostile.accesses[0].kernel = "</text><script>\u{1b}".into();
    hostile.accesses[1].place = None;
    hostile.accesses[1].block = None;
    let report = report_of(&[found(hostile), coverage(1, 1), Line::End]);
    let picture = report::svg(&report, &mut sources());
    assert!(!picture.contains("<script>") && !picture.contains('\u{1b}'), "{picture}");
}

#[test]
fn what_libraries_do_by_themselves_is_not_reported() {
    let copy = |function: &str| report::Finding {
        code: "unpinned-copy".into(),
        place: None,
        stack: stack([
            source("cudaMemcpyAsync", "copy.h", 3),
            source(function, "library.h", 9),
            source("main", "a.cu", 1),
        ]),
        ..out_of_bounds()
    };
    let lines = [found(copy("thrust::reduce<int>")), found(copy("mine::reduce")), coverage(1, 1), Line::End];
    let mut report = report_of(&lines);
    report::Suppressions::of_libraries().apply(&mut report);
    assert_eq!((report.findings.len(), report.suppressed.len()), (1, 0));
    assert_eq!(report.unused_suppressions, Vec::<String>::new(), "the user has written none");
}
