//! What CI needs of the commands of tools: files in the formats of servers, baselines, and settings in `warpgrind.toml`.

mod common;

use std::fs;
use std::process::{Command, Output};

use common::{Scratch, assert_contains, stderr, stdout};
use serde_json::Value;

const TWO: &str = "process; finding error 2; finding error 3; end";
const CLEAN: &str = "process; end";

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

fn read(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn all_reports_of_one_run() {
    let scratch = Scratch::new("ci-files");
    let flags = ["--sarif", "a.sarif", "--junit", "a.xml", "--html", "a-%p.html", "--svg", "a.svg"];
    let output = scratch.run(&flags, &format!("{TWO}; echo $$"));
    assert_eq!(output.status.code(), Some(86), "{}", stderr(&output));
    let log = json(&read(&scratch, "a.sarif"));
    let results = log["runs"][0]["results"].as_array().expect("a list");
    assert_eq!(results.len(), 2);
    let file = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(file, "vecadd.cu");
    assert_contains(
        log["runs"][0]["tool"]["driver"]["rules"][0]["help"]["text"].as_str().expect("help"),
        "before or after the object",
    );
    assert_contains(&read(&scratch, "a.xml"), "tests=\"3\" failures=\"2\" errors=\"0\"");
    let page = read(&scratch, &format!("a-{}.html", stdout(&output).trim()));
    assert_contains(&page, "<mark>c[i]</mark>");
    assert_contains(&read(&scratch, "a.svg"), "<svg");
    // What was not checked is no test that passed.
    let output = scratch.run(&["--junit", "b.xml"], "exit 0");
    assert_eq!(output.status.code(), Some(87));
    assert_contains(&read(&scratch, "b.xml"), "<error message=\"the program did not use CUDA");
}

#[test]
fn a_report_that_is_missing_is_not_a_clean_one() {
    let scratch = Scratch::new("ci-unwritable");
    for flag in ["--sarif", "--junit", "--html", "--summary"] {
        let output = scratch.run(&[flag, "no/such/directory"], CLEAN);
        assert_contains(stderr(&output), "error: writing no/such/directory");
        assert_eq!(output.status.code(), Some(87));
        assert_eq!(scratch.code(&[flag, "no/such/directory"], TWO), 86);
    }
}

#[test]
fn annotations_have_paths_in_the_repository() {
    let scratch = Scratch::new("ci-github");
    let annotation = |workspace: &str, directory: &str| {
        let mut command = scratch.memcheck(&["--format", "github"], TWO);
        fs::create_dir_all(scratch.0.join(directory)).expect("writable");
        fs::copy(scratch.0.join("app"), scratch.0.join(directory).join("app")).expect("writable");
        fs::copy(scratch.0.join("vecadd.cu"), scratch.0.join(directory).join("vecadd.cu")).expect("writable");
        let output = command.current_dir(scratch.0.join(directory)).env("GITHUB_WORKSPACE", workspace).output();
        let output = output.expect("it starts");
        stderr(&output).lines().find(|line| line.starts_with("::error ")).expect("an annotation").to_owned()
    };
    let here = scratch.0.display().to_string();
    assert_contains(
        &annotation(&here, "sub"),
        "::error file=sub/vecadd.cu,line=2,col=5,title=memcheck[out-of-bounds]::",
    );
    assert_contains(&annotation("/elsewhere", "sub"), "::error file=vecadd.cu,line=2,");
    assert_contains(&annotation("", "sub"), "::error file=vecadd.cu,line=2,");
}

#[test]
fn ci_wants_a_kernel() {
    let scratch = Scratch::new("ci-kernels");
    let none = "process; echo '{\"coverage\":{\"kernels\":0,\"launches\":0,\"unchecked_launches\":0,\"lost\":0}}\n\"end\"' >> $journal";
    assert_eq!(scratch.code(&[], none), 0);
    let output = scratch.run(&["--ci"], none);
    assert_eq!(output.status.code(), Some(87));
    assert_contains(stderr(&output), "warning: no kernel was checked, which --ci does not accept");
    assert_eq!(scratch.code(&["--ci", "--require-cuda-init", "no"], "exit 0"), 87);
    assert_eq!(scratch.code(&["--ci"], CLEAN), 0);
    assert_eq!(scratch.code(&["--ci"], TWO), 86);
}

#[test]
fn baselines() {
    let scratch = Scratch::new("ci-baseline");
    scratch
        .run(&["--format", "json", "--log-file", "old.jsonl", "--sarif", "old.sarif"], "process; finding error 2; end");
    // The lines move.
    let text = read(&scratch, "vecadd.cu");
    scratch.file("vecadd.cu", &format!("// one more line\n{text}"));
    for baseline in ["old.jsonl", "old.sarif"] {
        let output = scratch.run(&["--baseline", baseline], "process; finding error 3; end");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_contains(stderr(&output), "memcheck: 0 errors, 1 known in");
        let output = scratch
            .run(&["--baseline", baseline, "--summary", "s.json"], "process; finding error 3; finding error 4; end");
        assert_eq!(output.status.code(), Some(86));
        assert_contains(stderr(&output), "--> vecadd.cu:4:5");
        let summary = json(&read(&scratch, "s.json"));
        assert_eq!((&summary["errors"], &summary["known"]), (&1.into(), &1.into()));
    }
    // The program does not run with a baseline that is none.
    scratch.file("wrong", "nothing");
    for (baseline, message) in [("wrong", "it is no report"), ("missing", "No such file")] {
        let output = scratch.run(&["--baseline", baseline], "echo ran");
        assert_eq!((stdout(&output), output.status.code()), ("", Some(87)));
        assert_contains(stderr(&output), message);
    }
}

/// What the settings in a file come to.
fn with_settings(scratch: &Scratch, toml: &str, flags: &[&str], script: &str) -> Output {
    scratch.file("warpgrind.toml", toml);
    scratch.run(flags, script)
}

#[test]
fn settings_are_defaults_for_flags() {
    let scratch = Scratch::new("ci-settings");
    let code = |toml: &str, flags: &[&str], script: &str| {
        let output = with_settings(&scratch, toml, flags, script);
        output.status.code().unwrap_or_else(|| panic!("{}", stderr(&output)))
    };
    let warning = "process; finding warning 2; end";
    assert_eq!(code("fail-on = \"warning\"", &[], warning), 86);
    assert_eq!(code("[memcheck]\nfail-on = \"warning\"", &[], warning), 86);
    assert_eq!(code("[racecheck]\nfail-on = \"warning\"", &[], warning), 0);
    // The table counts more, and the command line most; no file with a flag.
    assert_eq!(code("error-exitcode = 5\n[memcheck]\nerror-exitcode = 6", &[], TWO), 6);
    assert_eq!(code("error-exitcode = 5\n[memcheck]\nerror-exitcode = 6", &["--error-exitcode", "7"], TWO), 7);
    assert_eq!(code("error-exitcode = 5", &["--no-config"], TWO), 86);
    assert_eq!(code("ci = true\nrequire-cuda-init = false", &[], "exit 0"), 87);
    assert_eq!(code("ci = false\nrequire-cuda-init = false", &[], "exit 0"), 0);
    // What does not go with the command line is left out.
    assert_eq!(code("cache-size = \"200M\"", &["--no-cache"], CLEAN), 0);
    // Nor does another word for what the command line says.
    let children = |toml: &str, flags: &[&str]| {
        let output = with_settings(&scratch, toml, flags, "process; end; echo \"$WARPGRIND_SETTINGS\"");
        let settings = settings::Settings::decode(stdout(&output).trim_end().as_bytes()).expect("settings");
        settings.trace_children
    };
    assert!(!children("target-processes = \"application-only\"", &[]));
    assert!(children("target-processes = \"application-only\"", &["--trace-children", "yes"]));
    assert!(children("trace-children = false", &["--target-processes", "all"]));
    // A flag that only others have.
    assert_eq!(code("trials = 7", &[], CLEAN), 0);
    assert_eq!(code("", &[], CLEAN), 0);
}

#[test]
fn settings_are_found_above_and_have_paths_of_their_own() {
    let scratch = Scratch::new("ci-above");
    fs::create_dir_all(scratch.0.join("a/b")).expect("writable");
    scratch.file("known.toml", "[[suppression]]\ntool = \"memcheck\"\ncode = \"*\"\n");
    scratch.file("warpgrind.toml", "suppressions = [\"known.toml\"]\nsarif = \"out.sarif\"\n");
    let mut command = scratch.memcheck(&[], TWO);
    fs::copy(scratch.0.join("app"), scratch.0.join("a/b/app")).expect("writable");
    let output = command.current_dir(scratch.0.join("a/b")).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_contains(stderr(&output), "2 suppressed");
    assert_eq!(json(&read(&scratch, "out.sarif"))["version"], "2.1.0");
    // The nearest counts.
    scratch.file("a/warpgrind.toml", "");
    let mut command = scratch.memcheck(&[], TWO);
    assert_eq!(command.current_dir(scratch.0.join("a/b")).status().expect("it starts").code(), Some(86));
}

#[test]
fn wrong_settings_are_refused_with_a_line() {
    let scratch = Scratch::new("ci-wrong");
    for (toml, message) in [
        ("\nfail-no = \"warning\"", "warpgrind.toml:2: there is no flag `fail-no`; did you mean `fail-on`?"),
        (
            "[memcheck]\n\nleak_check = \"full\"",
            "warpgrind.toml:3: there is no flag `leak_check`; did you mean `leak-check`?",
        ),
        ("[memchek]\n", "warpgrind.toml:1: there is no command that runs programs `memchek`; did you mean `memcheck`?"),
        ("[racecheck]\nwhatever = 1", "warpgrind.toml:2: there is no flag `whatever` ("),
        ("no-config = true", "there is no flag `no-config`"),
        ("help = true", "there is no flag `help`"),
        ("fail-on = \"never\"", "warpgrind.toml: invalid value 'never' for '--fail-on"),
        ("fail-on = [\"error\"]", "warpgrind.toml:1: `fail-on` has one value, and not a list"),
        ("ci = 1", "warpgrind.toml:1: `ci` is true or false"),
        ("wait = 1.5", "warpgrind.toml:1: `wait` is a string or a number"),
        ("wait = true", "`wait` is a string or a number"),
        ("suppressions = [[1]]", "`suppressions` is a string or a number"),
        ("fail-on = \"\x1b[31m\"", "warpgrind.toml:1: "),
        ("\"a\\u001b[31m\" = 1", "there is no flag `a\\u{1b}[31m`"),
        ("a = [", "warpgrind.toml:1: "),
        ("wait = \"--seed\"", "invalid value '--seed'"),
    ] {
        let output = with_settings(&scratch, toml, &[], "echo ran");
        assert_eq!((stdout(&output), output.status.code()), ("", Some(2)), "{toml}: {}", stderr(&output));
        assert_contains(stderr(&output), message);
        assert!(!stderr(&output).contains('\x1b'), "{:?}", stderr(&output));
    }
    let deep = format!("a = {}", "[".repeat(100_000));
    let large = "# comment\n".repeat(200_000);
    for (toml, message) in [(deep, "warpgrind.toml:1: "), (large, "has more than 1 MiB and is no file of settings")] {
        let output = with_settings(&scratch, &toml, &[], "echo ran");
        assert_eq!(output.status.code(), Some(2));
        assert_contains(stderr(&output), message);
    }
    // Commands that run no programs do not read it.
    let mut command = Command::new(scratch.0.join("bin/warpgrind"));
    assert!(command.arg("explain").current_dir(&scratch.0).output().expect("it starts").status.success());
    fs::remove_file(scratch.0.join("warpgrind.toml")).expect("it is ours");
    fs::create_dir(scratch.0.join("warpgrind.toml")).expect("writable");
    assert_contains(stderr(&scratch.run(&[], "echo ran")), "warpgrind.toml is not a file");
}

/// Somebody else could have put it into a directory above ours.
#[test]
fn settings_of_another_user_are_refused() {
    let scratch = Scratch::new("ci-owner");
    fs::create_dir(scratch.0.join("mine")).expect("writable");
    scratch.file("warpgrind.toml", "sarif = \"/tmp/overwritten\"");
    if std::os::unix::fs::chown(scratch.0.join("warpgrind.toml"), Some(12345), None).is_err() {
        // Only root can give files away.
        return;
    }
    let run = |scratch: &Scratch| {
        let mut command = scratch.memcheck(&[], "echo ran");
        fs::copy(scratch.0.join("app"), scratch.0.join("mine/app")).expect("writable");
        command.current_dir(scratch.0.join("mine")).output().expect("it starts")
    };
    let output = run(&scratch);
    assert_eq!((stdout(&output), output.status.code()), ("", Some(2)));
    assert_contains(
        stderr(&output),
        "belongs to another user, so it is not read: remove it, or start with --no-config",
    );
    // As in a container, where all of the checkout belongs to somebody else.
    scratch.file("warpgrind.toml", "");
    std::os::unix::fs::chown(scratch.0.join("mine"), Some(12345), None).expect("we are root");
    assert_eq!(stdout(&run(&scratch)), "ran\n");
}
