//! The guide: its links lead somewhere, and commands that need no program of CUDA's compiler are right.
//!
//! All of its commands are run by the test `guide` of `programs`, which needs CUDA's compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn pages() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/src");
    let files = fs::read_dir(directory).expect("the guide is there");
    let files = files.map(|file| file.expect("it can be read").path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    let summary = pages().into_iter().find(|page| page.ends_with("SUMMARY.md")).expect("there is a summary");
    let summary = fs::read_to_string(summary).expect("it can be read");
    for page in pages() {
        let text = fs::read_to_string(&page).expect("it can be read");
        let name = page.file_name().expect("a file has a name").to_string_lossy().into_owned();
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name} is not in the summary");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let is_elsewhere = link.starts_with("https://") || link.is_empty();
            assert!(is_elsewhere || page.with_file_name(link).is_file(), "{name} leads to {link}");
            links += 1;
        }
        for file in text.split("{{#include ").skip(1).filter_map(|rest| rest.split("}}").next()) {
            assert!(page.with_file_name(file).is_file(), "{name} includes {file}");
        }
    }
    assert!(links > 15, "{links}");
}

/// With a program that is not there, only the flags can be wrong.
#[test]
fn flags_are_right() {
    let mut commands = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("it can be read");
        for line in text.lines().filter_map(|line| line.trim_start_matches("$ ").split_once("warpgrind ")) {
            let (before, words) = line;
            if !["", "- run: ", "script: ", "  script: "].contains(&before) {
                continue;
            }
            let words = words.split(" > ").next().unwrap_or_default().replace("ctest --test-dir build", "./ctest");
            let words = words.replace("python3 fill.py", "./fill.py");
            let output = Command::new(env!("CARGO_BIN_EXE_warpgrind"))
                .args(words.split(' '))
                .current_dir(env!("CARGO_TARGET_TMPDIR"))
                .output()
                .expect("the command starts");
            let said = String::from_utf8_lossy(&output.stderr);
            let is_missing = said.starts_with("error: there is no ./") || said.contains("No such file or directory");
            let is_right = output.status.success() || is_missing;
            assert!(is_right, "{words}: {said}");
            commands += 1;
        }
    }
    assert!(commands > 12, "{commands}");
}
