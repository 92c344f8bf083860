//! `warpgrind health` as those meet it who run fleets: exit codes, the line, metrics, records, and hashes that are wrong.

use std::fs;
use std::path::Path;
use std::process::Output;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::build::Toolchain;
use crate::header::{Header, Variant};
use crate::run::{Installation, timeout};

/// Runs the checks.
pub(crate) fn check(toolchain: &Toolchain) -> Result<()> {
    let installation = Installation::make()?;
    let run = |words: &[&str], more: &[&Path]| -> Result<Output> {
        timeout(&installation).arg("health").args(words).args(more).output().context("starting `timeout`")
    };
    let [golden, wrong, metrics, records] =
        ["golden.txt", "wrong.txt", "health.prom", "health.jsonl"].map(|name| installation.file(name));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/campaign/two_kernels.cu").canonicalize()?;
    let program = toolchain.build(&source, &Header::parse("")?, Variant::Lines)?.program;

    let flags = ["--write-golden", text(&golden)?, "--metrics", text(&metrics)?, "--ocp", text(&records)?];
    let output = run(&flags, &[&program])?;
    says(&output, 0, "OK: ")?;
    let name = program.file_name().context("a file")?.to_string_lossy().into_owned();
    let hashes = fs::read_to_string(&golden)?;
    ensure!(hashes.lines().any(|line| line.starts_with(&name)) && hashes.lines().count() == 5, "{hashes}");
    let of_metrics = fs::read_to_string(&metrics)?;
    ensure!(of_metrics.contains("\nwarpgrind_health_status{device=\"cpu\"} 0\n"), "{of_metrics}");
    let last: Value = serde_json::from_str(fs::read_to_string(&records)?.lines().last().context("records")?)?;
    ensure!(last["testRunArtifact"]["testRunEnd"]["result"] == "PASS", "{last}");

    // A hash of a bundled kernel, and of the program, of which a digit is another.
    for kernel in ["fp64", &name] {
        let flip = |line: &str| match line.strip_prefix(kernel) {
            Some(hash) if hash.starts_with(" 0") => format!("{kernel} 1{}\n", &hash[2..]),
            Some(hash) => format!("{kernel} 0{}\n", &hash[2..]),
            None => format!("{line}\n"),
        };
        fs::write(&wrong, hashes.lines().map(flip).collect::<String>())?;
        for (style, code) in [("nagios", 2), ("npd", 1)] {
            let flags = ["--exit-style", style, "--golden", text(&wrong)?, "--metrics", text(&metrics)?];
            let output = if kernel == name { run(&flags, &[&program])? } else { run(&flags, &[])? };
            says(&output, code, "CRITICAL: ")?;
            let line = String::from_utf8_lossy(&output.stdout).into_owned();
            ensure!(line.contains("results are wrong"), "{line}");
            ensure!(fs::read_to_string(&metrics)?.contains("_status{device=\"cpu\"} 2\n"), "the metrics say otherwise");
        }
    }
    // What cannot be checked is not known.
    fs::write(&wrong, "no hash")?;
    for (style, code) in [("nagios", 3), ("npd", 2)] {
        says(&run(&["--exit-style", style, "--golden", text(&wrong)?], &[])?, code, "UNKNOWN: ")?;
    }
    says(&run(&[], &[Path::new("/bin/true")])?, 3, "UNKNOWN: ")
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("paths of tests are text")
}

fn says(output: &Output, code: i32, words: &str) -> Result<()> {
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(code), "{} and not {code}: {line}{said}", output.status);
    let is_one_line = line.ends_with('\n') && line.lines().count() == 1 && line.trim_end().chars().count() <= 80;
    ensure!(line.starts_with(words) && is_one_line, "`{line}`: {said}");
    Ok(())
}
