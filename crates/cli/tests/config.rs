//! `warpgrind config` as a user meets it: in a build directory, where it is installed, and where the headers are gone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn config(command: &Path, args: &[&str]) -> Output {
    Command::new(command).arg("config").args(args).output().expect("the command starts")
}

#[test]
fn prints_the_headers_of_the_sources() {
    let output = config(Path::new(env!("CARGO_BIN_EXE_warpgrind")), &["--include-dir"]);
    assert!(output.status.success());
    let directory = PathBuf::from(String::from_utf8(output.stdout).expect("it is UTF-8").trim_end());
    let header = fs::read_to_string(directory.join("warpgrind/tx.cuh")).expect("the header is there");
    assert!(header.contains("bool atomically("));
}

#[test]
fn prints_the_headers_that_are_installed() {
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("config-{}", std::process::id()));
    let (command, header) = (prefix.join("bin/warpgrind"), prefix.join("include/warpgrind/tx.cuh"));
    for file in [&command, &header] {
        fs::create_dir_all(file.parent().expect("it is in a directory")).expect("the directory is writable");
    }
    fs::copy(env!("CARGO_BIN_EXE_warpgrind"), &command).expect("the command can be copied");
    fs::write(&header, "").expect("the directory is writable");
    let output = config(&command, &["--include-dir"]);
    let printed = String::from_utf8(output.stdout).expect("it is UTF-8");
    assert_eq!(printed, format!("{}\n", prefix.join("include").canonicalize().expect("it is there").display()));
    fs::remove_dir_all(prefix).expect("it can be removed");
}

#[test]
fn needs_to_know_what_is_asked_for() {
    let output = config(Path::new(env!("CARGO_BIN_EXE_warpgrind")), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--include-dir"));
}
