//! The GitHub action and the GitLab template in `ci/`: what their shell does with the variables that the servers set.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Scratch, assert_contains, stderr, stdout};

const FINDS: &str = "process; finding error 2; end";
const CLEAN: &str = "process; end";

fn ci(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci").join(name)
}

/// The tests of a repository: a script that writes down what our library would.
fn repository(name: &str, script: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.memcheck(&[], script);
    scratch
}

fn path(scratch: &Scratch) -> String {
    // Nothing that is installed elsewhere.
    format!("{}:/usr/bin:/bin", scratch.0.join("bin").display())
}

/// The step of the action that runs the tests, with the given inputs.
fn step(scratch: &Scratch, tool: &str, flags: &str, run: &str) -> Output {
    Command::new(ci("github-action/run.sh"))
        .current_dir(&scratch.0)
        .env("PATH", path(scratch))
        .env("TMPDIR", scratch.0.join("tmp"))
        .env("GITHUB_OUTPUT", scratch.0.join("outputs"))
        .env("GITHUB_STEP_SUMMARY", scratch.0.join("step.md"))
        .env("GITHUB_WORKSPACE", &scratch.0)
        .env("WARPGRIND_RUN", run)
        .env("WARPGRIND_TOOL", tool)
        .env("WARPGRIND_FLAGS", flags)
        .env("WARPGRIND_REPORTS", "a directory/reports")
        .output()
        .expect("it starts")
}

fn read(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_action_reports() {
    let scratch = repository("action-finds", FINDS);
    let output = step(&scratch, "memcheck", "--print-limit 5 --leak-check full", "./app");
    assert_eq!(output.status.code(), Some(86), "{}", stderr(&output));
    assert_contains(stderr(&output), "::error file=vecadd.cu,line=2,");
    let outputs = read(&scratch, "outputs");
    assert_eq!(
        outputs,
        "verdict=findings\nexit-code=86\nsarif=a directory/reports/report.sarif\nhtml=a directory/reports/report.html\n"
    );
    for (file, part) in [("report.sarif", "2.1.0"), ("report.xml", "failures=\"1\""), ("report.html", "<mark>c[i]")] {
        assert_contains(&read(&scratch, &format!("a directory/reports/{file}")), part);
    }
    assert_eq!(read(&scratch, "step.md"), "Warpgrind memcheck: **findings** (exit code 86)\n");
}

#[test]
fn the_action_is_silent_of_what_is_clean() {
    let scratch = repository("action-clean", CLEAN);
    let output = step(&scratch, "memcheck", "", "./app && echo 'two  words' \"$HOME\"");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_contains(stdout(&output), "two  words /");
    assert_contains(&read(&scratch, "outputs"), "verdict=clean\nexit-code=0\n");
}

/// Tests that use no CUDA, or fail, are not clean.
#[test]
fn the_action_fails_if_nothing_was_checked() {
    let scratch = repository("action-nothing", CLEAN);
    assert_eq!(step(&scratch, "memcheck", "", "true").status.code(), Some(87));
    assert_contains(&read(&scratch, "outputs"), "verdict=not-checked\nexit-code=87\n");
    assert_eq!(step(&scratch, "memcheck", "", "./app; exit 3").status.code(), Some(3));
}

#[test]
fn the_action_refuses_what_is_no_tool() {
    let scratch = repository("action-tool", CLEAN);
    for tool in ["--help", "run", "", "x`id`\n::warning::y"] {
        let output = step(&scratch, tool, "", "./app");
        assert_eq!(output.status.code(), Some(2), "{tool}");
        assert!(stdout(&output).starts_with("::error title=Warpgrind::there is no tool"), "{}", stdout(&output));
        assert_eq!(stdout(&output).lines().count(), 1, "{}", stdout(&output));
    }
    fs::remove_file(scratch.0.join("bin/warpgrind")).expect("it is there");
    let output = step(&scratch, "memcheck", "", "./app");
    assert_eq!(output.status.code(), Some(2));
    assert_contains(stdout(&output), "warpgrind is not on PATH");
}

/// With a stand-in for Python, which writes down what it is asked for.
fn python(scratch: &Scratch) {
    let script = "#!/bin/sh
echo \"$@\" >> \"$SCRATCH/asked\"
if [ \"$2\" = venv ]; then
    mkdir -p \"$3/bin\" && cp \"$0\" \"$3/bin/python\" && cp \"$SCRATCH/warpgrind\" \"$3/bin/warpgrind\"
fi
";
    fs::rename(scratch.0.join("bin/warpgrind"), scratch.0.join("warpgrind")).expect("it is there");
    let path = scratch.file("bin/python3", script);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn the_action_installs() {
    let scratch = repository("action-install", CLEAN);
    python(&scratch);
    let output = Command::new(ci("github-action/install.sh"))
        .current_dir(&scratch.0)
        .env("PATH", path(&scratch))
        .env("SCRATCH", &scratch.0)
        .env("RUNNER_TEMP", scratch.0.join("tmp"))
        .env("GITHUB_PATH", scratch.0.join("paths"))
        .env("WARPGRIND_PACKAGE", "a b.whl")
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_contains(stdout(&output), "warpgrind 0.");
    assert_contains(&read(&scratch, "asked"), "-m pip install --quiet --disable-pip-version-check -- a b.whl\n");
    // What is added to PATH has the command, and no other.
    let added = read(&scratch, "paths");
    let files = fs::read_dir(added.trim()).expect("it is a directory").map(|file| file.expect("readable").file_name());
    assert_eq!(files.collect::<Vec<_>>(), ["warpgrind"]);
}

/// The lines of the template's script.
fn gitlab_script() -> String {
    let text = fs::read_to_string(ci("gitlab/warpgrind.yml")).expect("it is there");
    let (_, rest) = text.split_once("    - |\n").expect("there is a script");
    let lines = rest.lines().take_while(|line| line.starts_with("      "));
    lines.map(|line| format!("{}\n", &line[6..])).collect()
}

#[test]
fn the_gitlab_job() {
    for package in ["", "w.whl"] {
        let job = |script: &str, run: &str| {
            let scratch = repository("gitlab", script);
            if !package.is_empty() {
                python(&scratch);
                // The libraries, where those of a wheel are.
                for directory in [".warpgrind", ".warpgrind/lib"] {
                    fs::create_dir(scratch.0.join(directory)).expect("writable");
                }
                fs::rename(scratch.0.join("lib/warpgrind"), scratch.0.join(".warpgrind/lib/warpgrind")).expect("there");
            }
            let output = Command::new("sh")
                .args(["-c", &gitlab_script()])
                .current_dir(&scratch.0)
                .env("PATH", path(&scratch))
                .env("SCRATCH", &scratch.0)
                .env("TMPDIR", scratch.0.join("tmp"))
                .env("CI_PROJECT_DIR", &scratch.0)
                .env("WARPGRIND_PACKAGE", package)
                .env("WARPGRIND_TOOL", "memcheck")
                .env("WARPGRIND_FLAGS", "--print-limit 5")
                .env("WARPGRIND_RUN", run)
                .output()
                .expect("it starts");
            let junit = fs::read_to_string(scratch.0.join("warpgrind-reports/report.xml")).unwrap_or_default();
            (output.status.code(), junit, stderr(&output).to_owned())
        };
        let (code, junit, said) = job(FINDS, "./app");
        assert_eq!(code, Some(86), "{said}");
        assert_contains(&junit, "failures=\"1\"");
        assert_eq!(job(CLEAN, "./app").0, Some(0));
        assert_eq!(job(CLEAN, "true").0, Some(87));
        let (code, _, said) = job(CLEAN, "");
        assert_eq!(code, Some(2));
        assert_contains(&said, "set WARPGRIND_RUN");
    }
}
