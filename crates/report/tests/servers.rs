//! Reports for CI servers: SARIF, JUnit, annotations; and what is recognised from run to run.

mod common;
mod schema;

use common::*;
use report::{
    AccessOf, Baseline, Exit, Explanation, Finding, Frame, Line, Note, Report, Severity, SourceLine, Sources,
};
use serde_json::Value;

const EXPLANATIONS: &[Explanation] = &[Explanation {
    tool: Some("memcheck"),
    code: "out-of-bounds",
    title: "an access before or after memory",
    text: "# Out of bounds\n",
}];

/// What a program can put into names.
const NASTY: &str =
    "\x1b[31m\u{202e}::error::%0A</script><img src=x onerror=alert(1)>]]>&\"'\n\r\u{9b}1m\0\u{ffff}]( ${{ x }}";

fn hostile() -> Finding {
    let mut finding = out_of_bounds();
    for text in [&mut finding.tool, &mut finding.code, &mut finding.message] {
        *text = NASTY.into();
    }
    let place = finding.place.as_mut().expect("it has one");
    place.kernel = NASTY.into();
    place.instruction = NASTY.into();
    place.lines.push(SourceLine { file: NASTY.into(), line: u32::MAX, column: u32::MAX, function: Some(NASTY.into()) });
    finding.notes.push(Note { message: NASTY.into(), stack: stack([source(NASTY, NASTY, 0)]) });
    finding.object.as_mut().expect("it has one").name = NASTY.into();
    finding.object.as_mut().expect("it has one").offset = i64::MIN;
    finding.help = Some(NASTY.into());
    finding.stack = stack([source(NASTY, NASTY, 1), Frame::Code { object: NASTY.into(), offset: 1 }]);
    finding.accesses = vec![access(NASTY, NASTY), access("write", NASTY)];
    finding
}

fn access(what: &str, file: &str) -> AccessOf {
    let mut place = out_of_bounds().place.expect("it has one");
    place.lines[0].file = file.into();
    AccessOf {
        what: what.into(),
        by: "block (0,0,0) thread (3,0,0)".into(),
        place: Some(place),
        kernel: "_Z6vecaddPKfS0_Pfi".into(),
        launch: 1,
        block: Some([0; 3]),
        thread: Some([3, 0, 0]),
        barriers: Some(1),
    }
}

fn race() -> Finding {
    let accesses = vec![access("write", "vecadd.cu"), access("read", "vecadd.cu")];
    Finding { code: "data-race".into(), accesses, ..out_of_bounds() }
}

fn of_host() -> Finding {
    let mut finding = out_of_bounds();
    finding.severity = Severity::Warning;
    (finding.place, finding.first, finding.object) = (None, None, None);
    finding.stack = stack([source("main", "vecadd.cu", 13)]);
    finding
}

fn without_a_place() -> Finding {
    let mut finding = of_host();
    finding.stack = None;
    finding
}

fn report_of(findings: impl IntoIterator<Item = Finding>) -> Report {
    report_with(findings, &mut sources())
}

fn report_with(findings: impl IntoIterator<Item = Finding>, sources: &mut Sources) -> Report {
    let scratch = Scratch::new();
    let lines: Vec<Line> = findings.into_iter().map(found).chain([coverage(1, 2), Line::End]).collect();
    scratch.journal(100, &lines);
    let mut report = scratch.report();
    report.identify(sources);
    report
}

fn sarif_of(report: &Report) -> Value {
    let text = report::sarif(report, &run(), EXPLANATIONS, &mut sources());
    let value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(schema::mistakes(&schema::sarif(), &value), Vec::<String>::new());
    value
}

/// A check that accepts everything would be none.
#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema = schema::sarif();
    let right = sarif_of(&report_of([out_of_bounds(), race()]));
    let wrong: [(&str, Value); 7] = [
        ("/version", "2.2".into()),
        ("/runs/0/tool/driver/name", Value::Null),
        ("/runs/0/results/0/level", "fatal".into()),
        ("/runs/0/results/0/ruleIndex", (-2).into()),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", 0.into()),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", "a b".into()),
        ("/runs/0/results/0/message", serde_json::json!({ "words": "x" })),
    ];
    for (pointer, value) in wrong {
        let mut log = right.clone();
        *log.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        assert_ne!(schema::mistakes(&schema, &log), Vec::<String>::new(), "{pointer}");
    }
    let mut log = right.clone();
    log["runs"][0].as_object_mut().expect("a run").remove("tool");
    assert_ne!(schema::mistakes(&schema, &log), Vec::<String>::new());
}

#[test]
fn sarif_has_everything_a_finding_has() {
    let report = report_of([out_of_bounds(), race(), of_host(), without_a_place()]);
    let log = sarif_of(&report);
    expect("report.sarif", &serde_json::to_string_pretty(&log).expect("it is JSON"));
    let results = log["runs"][0]["results"].as_array().expect("a list");
    assert_eq!(results.len(), 4);
    assert!(
        results.iter().all(|result| result.pointer("/locations/0/physicalLocation/artifactLocation/uri").is_some())
    );
}

/// Threads of two kernels may have the same number.
#[test]
fn accesses_of_one_line_and_thread_are_two() {
    let mut finding = race();
    finding.accesses[1] = AccessOf { launch: 2, ..finding.accesses[0].clone() };
    let log = sarif_of(&report_of([finding]));
    let flows = &log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"];
    assert_ne!(flows[0]["id"], flows[1]["id"]);
}

#[test]
fn sarif_of_hostile_names_is_valid_and_within_limits() {
    let mut deep = hostile();
    let lines = &mut deep.place.as_mut().expect("it has one").lines;
    *lines = vec![lines[1].clone(); 90];
    deep.notes = vec![deep.notes[2].clone(); 90];
    let log = sarif_of(&report_of([hostile(), deep]));
    for result in log["runs"][0]["results"].as_array().expect("a list") {
        let related = result["relatedLocations"].as_array().map_or(0, Vec::len);
        assert!(result["locations"].as_array().map_or(0, Vec::len) + related <= 10);
    }
    assert!(!log.to_string().contains('\x1b'));
}

#[test]
fn sarif_says_what_was_not_checked() {
    let mut run = run();
    run.exit = Exit::Signal(9);
    let text = report::sarif(&Report::default(), &run, EXPLANATIONS, &mut sources());
    let log: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(schema::mistakes(&schema::sarif(), &log), Vec::<String>::new());
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["exitSignalNumber"], 9);
    let message = &invocation["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(message, "the program did not use CUDA, so nothing was checked");
}

/// A project with one file, whose lines move.
struct Project(Scratch);

impl Project {
    fn with(text: &str) -> Self {
        let scratch = Scratch::new();
        std::fs::write(scratch.0.join("vecadd.cu"), text).expect("writable");
        Self(scratch)
    }

    fn fingerprints(&self, findings: impl IntoIterator<Item = Finding>) -> Vec<String> {
        let report = report_with(findings, &mut Sources::below([self.0.0.clone()]));
        report.findings.iter().map(|found| found.fingerprint.clone()).collect()
    }
}

fn at_line(line: u32) -> Finding {
    let mut finding = out_of_bounds();
    finding.place.as_mut().expect("it has one").lines[0].line = line;
    finding
}

#[test]
fn fingerprints_stay_when_lines_move() {
    let before = Project::with("void f() {\n    c[i] = 1;\n    c[i] = 2;\n}\n").fingerprints([at_line(2), at_line(3)]);
    let mut moved = [at_line(14), at_line(15)];
    for finding in &mut moved {
        let place = finding.place.as_mut().expect("it has one");
        // Another machine, other registers, another thread, another column.
        place.lines[0].file = "/build/7/vecadd.cu".into();
        place.lines[0].column = 9;
        place.instruction = "st.global.f32 [%rd99], %f77;".into();
        place.instruction_line += 100;
        finding.first.as_mut().expect("it has one").thread = [7, 0, 0];
        finding.count = 1;
    }
    let text = format!("{}void f() {{\n\tc[i]  = 1;\n\t\tc[i] = 2;\n}}\n", "// more\n".repeat(12));
    let project = Project::with(&text);
    assert_eq!(project.fingerprints(moved.clone()), before);
    // Other lines, messages, kernels and files have others.
    assert_ne!(before[0], before[1]);
    moved[0].message = "out-of-bounds read of 4 bytes".into();
    moved[1].place.as_mut().expect("it has one").kernel = "other".into();
    let others = project.fingerprints(moved);
    assert!(others.iter().all(|other| !before.contains(other)), "{others:?}");
    // Two that are alike are two.
    let mut second = at_line(2);
    second.place.as_mut().expect("it has one").instruction_line += 1;
    let two = Project::with("\nc[i] = 1;\n").fingerprints([at_line(2), second]);
    assert_eq!(two[0].strip_suffix(":1"), two[1].strip_suffix(":2"));
}

#[test]
fn what_the_baseline_has_does_not_count() {
    let old = report_of([out_of_bounds(), of_host()]);
    let json = report::json::lines(&old, &run());
    let sarif = report::sarif(&old, &run(), EXPLANATIONS, &mut sources());
    for baseline in [json, sarif] {
        let baseline = Baseline::parse(&baseline).expect("what we write can be read");
        let mut same = report_of([out_of_bounds(), of_host()]);
        baseline.apply(&mut same);
        assert_eq!((same.findings.len(), same.known.len()), (0, 2));
        assert_eq!(same.verdict(&run()).name(), "clean");
        assert!(text(&same).ends_with("memcheck: 0 errors, 2 known in 1 kernel and 2 launches of 1 process\n"));
        let mut more = report_of([out_of_bounds(), of_host(), race()]);
        baseline.apply(&mut more);
        assert_eq!((more.findings.len(), more.known.len()), (1, 2));
        assert_eq!(more.findings[0].finding.code, "data-race");
        // What is known stays known when the next baseline is made.
        for next in [report::json::lines(&more, &run()), report::sarif(&more, &run(), EXPLANATIONS, &mut sources())] {
            let mut again = report_of([out_of_bounds(), of_host(), race()]);
            Baseline::parse(&next).expect("right").apply(&mut again);
            assert_eq!((again.findings.len(), again.known.len()), (0, 3));
        }
        let states = sarif_of(&more)["runs"][0]["results"].clone();
        let states: Vec<&Value> = states.as_array().expect("a list").iter().map(|one| &one["baselineState"]).collect();
        assert_eq!(states, ["new", "unchanged", "unchanged"]);
    }
}

/// XML that has no tag but those of the format, and no letter that XML does not have.
#[track_caller]
fn assert_is_xml(xml: &str) {
    let tags = xml.split('<').skip(1).map(|rest| rest.split([' ', '>', '/']).find(|word| !word.is_empty()));
    let known = ["?xml", "testsuites", "testsuite", "testcase", "failure", "error", "system-out"];
    for tag in tags {
        assert!(tag.is_some_and(|tag| known.contains(&tag)), "{tag:?} in {xml}");
    }
    assert!(xml.chars().all(|letter| letter == '\n' || !letter.is_control() && letter != '\u{ffff}'), "{xml:?}");
    for entity in xml.split('&').skip(1) {
        assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)), "{entity}");
    }
}

#[test]
fn junit_has_a_failure_for_each_error() {
    let report = report_of([out_of_bounds(), race(), of_host()]);
    let xml = report::junit(&report, &run(), &look(), &mut sources());
    assert_is_xml(&xml);
    expect("report.junit.xml", &xml);
    let mut strict = run();
    strict.warnings_count = true;
    let xml = report::junit(&report, &strict, &look(), &mut sources());
    assert_eq!(xml.matches("<failure ").count(), 3);
    let xml = report::junit(&report_of([]), &run(), &look(), &mut sources());
    assert!(xml.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{xml}");
    let xml = report::junit(&Report::default(), &run(), &look(), &mut sources());
    assert!(xml.contains("tests=\"1\" failures=\"0\" errors=\"1\"") && xml.contains("<error message="), "{xml}");
    assert_is_xml(&report::junit(&report_of([hostile()]), &run(), &look(), &mut sources()));
}

#[test]
fn annotations_are_escaped_and_few() {
    let text = report::github(&report_of([out_of_bounds(), of_host()]), &run(), &look(), &mut sources(), "token");
    let (log, commands) = text.split_once("\n::token::\n").expect("the text has an end");
    assert!(log.starts_with("::stop-commands::token\nerror: out-of-bounds"), "{log}");
    let expected = "\
::error file=vecadd.cu,line=7,col=5,title=memcheck[out-of-bounds]::out-of-bounds write of 4 bytes%0Athe address is 0 bytes past an allocation of 400 bytes%0Aallocated here%0A`i` is not compared with the array's length; see `warpgrind explain memcheck::out-of-bounds`
::warning file=vecadd.cu,line=13,title=memcheck[out-of-bounds]::out-of-bounds write of 4 bytes%0Athe address is 0 bytes past an allocation of 400 bytes%0Aallocated here%0A`i` is not compared with the array's length; see `warpgrind explain memcheck::out-of-bounds`
";
    assert_eq!(commands, expected);
    let many = (0..30).map(|index| at_line(100 + index)).chain([hostile()]);
    let text = report::github(&report_of(many), &run(), &look(), &mut sources(), "token");
    let (_, commands) = text.split_once("\n::token::\n").expect("the text has an end");
    assert_eq!(commands.lines().filter(|line| line.starts_with("::error ")).count(), 10);
    assert!(commands.ends_with("::notice::21 more findings in the log of this step\n"), "{commands}");
    let text = report::github(&report_of([hostile()]), &run(), &look(), &mut sources(), "token");
    let (_, commands) = text.split_once("\n::token::\n").expect("the text has an end");
    assert_eq!(commands.lines().count(), 1, "{commands}");
    let (properties, _) = commands[2..].split_once("::").expect("a command has an end");
    assert_eq!(properties.matches(',').count(), 3, "{properties}");
    let text = report::github(&Report::default(), &run(), &look(), &mut sources(), "token");
    assert!(
        text.ends_with("::error title=not checked::the program did not use CUDA, so nothing was checked\n"),
        "{text}"
    );
}

/// A page whose only elements are ours, whatever names are.
#[test]
fn a_page_has_no_markup_of_the_program() {
    let page = |findings: Vec<Finding>| report::html(&report_of(findings), &run(), EXPLANATIONS, &mut sources());
    let hostile = page(vec![hostile()]);
    assert!(!hostile.contains("<img"), "{hostile}");
    assert!(!hostile.contains(['\x1b', '\u{202e}', '\0']), "{hostile:?}");
    assert_eq!(hostile.matches("</script>").count(), 3);
    // Also in what the script inserts.
    let many = page((0..300).map(|index| Finding { message: format!("{index} {NASTY}"), ..out_of_bounds() }).collect());
    assert!(!many.contains("<img") && !many.contains(['\x1b', '\u{202e}', '\0']));
    assert_eq!(many.matches("</script>").count(), 3);
    // Nothing is loaded from elsewhere.
    for word in ["http:", "https:", "url(", "@import", " src="] {
        assert!(!page(vec![out_of_bounds(), race()]).contains(word), "{word}");
    }
}

#[test]
fn a_page_shows_source_memory_threads_and_time() {
    let report = report_of([out_of_bounds(), race(), of_host(), without_a_place()]);
    let page = report::html(&report, &run(), EXPLANATIONS, &mut sources());
    expect("report.html", &page);
    for part in [
        "<mark>c[i]</mark>",
        "4 bytes are accessed just past its end",
        "thread (100,0,0), lane 4 of warp 3",
        "<svg viewBox",
        "an access before or after memory",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn text_folds_what_repeats() {
    let mut findings = Vec::new();
    for index in 0..7 {
        let mut finding = out_of_bounds();
        let place = finding.place.as_mut().expect("it has one");
        place.instruction_line += index;
        if index == 6 {
            place.kernel = "_Z6squarePf".into();
        }
        finding.notes[0].message = format!("the address is {index} bytes past an allocation of 400 bytes");
        findings.push(finding);
    }
    let mut elsewhere = out_of_bounds();
    elsewhere.object.as_mut().expect("it has one").bytes = 800;
    elsewhere.place.as_mut().expect("it has one").instruction_line = 99;
    findings.push(elsewhere);
    let shown = text(&report_of(findings.clone()));
    assert_eq!(shown.matches("error: ").count(), 2, "{shown}");
    let note = "note: 6 more like it at this line: PTX line 42, PTX line 43, PTX line 44, PTX line 45 and 2 more\n";
    let other = "note: 6 more like it at this line: vecadd PTX line 41, vecadd PTX line 42, vecadd PTX line 43, vecadd PTX line 44 and 2 more\n";
    assert!(shown.contains(note) || shown.contains(other), "{shown}");
    assert!(shown.ends_with("memcheck: 8 errors in 1 kernel and 2 launches of 1 process\n"), "{shown}");
    let mut one = look();
    one.most_findings = 1;
    let shown = report::render(&report_of(findings), &run(), &one, &mut sources());
    assert!(shown.contains("note: 1 more finding; --print-limit"), "{shown}");
}

#[test]
fn ci_wants_a_kernel() {
    let mut run = run();
    run.requires_kernels = true;
    assert_eq!(report_of([]).verdict(&run).name(), "clean");
    let scratch = Scratch::new();
    scratch.journal(100, &[coverage(0, 0), Line::End]);
    assert_eq!(scratch.report().verdict(&run).name(), "not-checked");
}
