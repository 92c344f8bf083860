//! The SARIF of every tool: it is as its schema says, and who moves the lines of a program keeps the fingerprints of what is found.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::build::Toolchain;
use crate::report;
use crate::run::Installation;
use crate::schema;

/// Programs of all tools, with the tool.
pub(crate) const PROGRAMS: [(&str, &str); 15] = [
    ("memcheck", "vecadd"),
    ("memcheck", "copy_past_the_end"),
    ("memcheck", "peer_access"),
    ("racecheck", "read_before_barrier"),
    ("racecheck", "streams"),
    ("repair", "warp_synchronous_sort"),
    ("rmt", "copies_differ"),
    ("traffic", "stride"),
    ("fidelity", "reaches"),
    ("twice", "time_of_day"),
    ("loads", "lines"),
    ("stores", "blocks"),
    ("order", "streams"),
    ("proofs", "launches"),
    ("doubled", "partial_warp"),
];

/// Those that count or refuse, and find nothing.
const WITHOUT_FINDINGS: [&str; 6] = ["fidelity", "loads", "stores", "order", "proofs", "doubled"];

/// Runs a program as it is, and with lines in front of it.
pub(crate) fn check(toolchain: &Toolchain, tool: &str, source: &Path) -> Result<()> {
    let text = std::fs::read_to_string(source)?;
    // A directory that goes with it.
    let installation = Installation::make()?;
    let directory = &installation.file("");
    let before = fingerprints(toolchain, tool, source, &text, directory)?;
    ensure!(before.is_empty() == WITHOUT_FINDINGS.contains(&tool), "{} results", before.len());
    // Its headers are where it was.
    let home = source.parent().context("a source is in a directory")?.display().to_string();
    let text = format!("//@ build: -I{home}\n{}{text}", "// one line more\n".repeat(11));
    let tests = directory.join("tests");
    std::fs::create_dir_all(tests.join("memcheck"))?;
    std::fs::create_dir_all(tests.join(tool))?;
    let moved = tests.join(tool).join(source.file_name().context("a file has a name")?);
    std::fs::write(&moved, &text)?;
    let after = fingerprints(toolchain, tool, &moved, &text, directory)?;
    ensure!(before == after, "before {before:#?}, after {after:#?}");
    Ok(())
}

/// The fingerprints of all results, sorted.
fn fingerprints(toolchain: &Toolchain, tool: &str, source: &Path, text: &str, directory: &Path) -> Result<Vec<String>> {
    let file = directory.join("out.sarif");
    let path = file.to_str().context("a path that is text")?;
    let output = report::check(toolchain, &[tool, "--sarif", path], source, text, false)?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let log: Value = serde_json::from_slice(&std::fs::read(&file).context(said)?)?;
    let mistakes = schema::mistakes(&schema::sarif(), &log);
    ensure!(mistakes.is_empty(), "{mistakes:#?}");
    let results = log["runs"][0]["results"].as_array().context("a list of results")?;
    let print = |result: &Value| -> Result<String> {
        let prints = result["partialFingerprints"].as_object().context("fingerprints")?;
        ensure!(!prints.is_empty(), "a result has no fingerprint");
        Ok(format!("{} {}", result["ruleId"], serde_json::to_string(prints)?))
    };
    let mut all = results.iter().map(print).collect::<Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}
