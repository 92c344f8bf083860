//! Runs the commands of the guide (`docs/guide`), page after page, and compares what they print with what the page says.
//!
//! Programs are the blocks after `<!-- file: NAME -->`, commands the lines after `$` of blocks `console`. A `…` stands for anything.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::build::Toolchain;
use crate::run::Installation;

/// The whole guide, in the order of its pages: later ones use programs of earlier ones.
pub(crate) fn check(toolchain: &Toolchain) -> Result<()> {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/src");
    let summary = fs::read_to_string(pages.join("SUMMARY.md"))?;
    let installation = Installation::make()?;
    let directory = installation.file("guide");
    fs::create_dir(&directory)?;
    let path = [installation.file("bin"), toolchain.programs(), "/usr/bin".into(), "/bin".into()];
    let path = std::env::join_paths(path)?;
    let mut commands = 0;
    for name in summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let page = fs::read_to_string(pages.join(name)).with_context(|| format!("reading {name}"))?;
        for block in blocks(&page) {
            if let Some(file) = block.file {
                fs::write(directory.join(file), &block.text)?;
            }
            if block.kind != "console" {
                continue;
            }
            for step in block.text.split("$ ").skip(1) {
                let (command, expected) = step.split_once('\n').unwrap_or((step, ""));
                let script = format!("exec 2>&1; {command}");
                let output =
                    Command::new("bash").args(["-c", &script]).current_dir(&directory).env("PATH", &path).output()?;
                let printed = String::from_utf8_lossy(&output.stdout);
                ensure!(
                    fits(expected.trim_end(), printed.trim_end()),
                    "`{command}` in {name} ({}) prints:\n{printed}",
                    output.status
                );
                commands += 1;
            }
        }
    }
    ensure!(commands > 10, "the guide has only {commands} commands");
    Ok(())
}

struct Block<'a> {
    /// The name of the file that it is.
    file: Option<&'a str>,
    /// What follows the first backquotes.
    kind: &'a str,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut file = None;
    let mut is_inside = false;
    for line in page.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            if !is_inside {
                blocks.push(Block { file: file.take(), kind, text: String::new() });
            }
            is_inside = !is_inside;
        } else if is_inside && let Some(block) = blocks.last_mut() {
            block.text += line;
            block.text.push('\n');
        } else if let Some(name) = line.strip_prefix("<!-- file: ") {
            file = name.strip_suffix(" -->");
        }
    }
    blocks
}

/// Whether a text is as expected, where `…` stands for anything.
fn fits(expected: &str, text: &str) -> bool {
    let Some((first, after)) = expected.split_once('…') else { return expected == text };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let (between, last) = after.rsplit_once('…').unwrap_or(("", after));
    for part in between.split('…') {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}
