//! What a test file can ask for: one file per command.

mod analyses;
mod cat;
mod effects;
mod link;
mod parse_errors;
mod rewrite;
pub(crate) mod run;
mod verify;

use std::path::Path;

use anyhow::{Result, bail};

use crate::engine::Engine;
use crate::testfile::TestFile;

/// Whether an engine leaves in memory what a `run` file expects of the interpreter.
pub fn agrees(path: &Path, engine: &dyn Engine) -> Result<()> {
    run::agrees(&TestFile::read(path)?, engine)
}

/// Runs a test file.
pub fn run(path: &Path) -> Result<()> {
    let file = TestFile::read(path)?;
    let (command, arguments) = file.command.split_once(' ').unwrap_or((&file.command, ""));
    match command {
        "analyses" => file.compare(path, &analyses::run(&file)?),
        "cat" => file.compare(path, &cat::run(&file)?),
        "effects" => file.compare(path, &effects::run(&file)?),
        "link" => file.compare(path, &link::run(&file)?),
        "parse-errors" => file.compare(path, &parse_errors::run(path)?),
        "rewrite" => file.compare(path, &rewrite::run(&file, arguments)?),
        "run" => file.compare(path, &run::run(&file)?),
        // What a fuzz target found: nothing is expected but that everything holds that must hold of any text.
        "survives" => {
            crate::oracle::check_text(file.input.as_bytes());
            Ok(())
        }
        "verify" => verify::run(&file),
        other => bail!("`{other}` is not a command of test files; see crates/filetest/src/commands"),
    }
}

/// Parses the input, which must be free of errors. Several modules are linked.
fn parse_clean(file: &TestFile) -> Result<ptx::ir::Module> {
    if file.input.contains("//@ module:") {
        let linked = link::linked(&file.input)?.map_err(|errors| anyhow::anyhow!("{}", errors[0]))?;
        link::check(&linked.module, &ptx::print(&linked.module))?;
        return Ok(linked.module);
    }
    let parsed = ptx::parse(&file.input);
    if let Some(diagnostic) = parsed.diagnostics.first() {
        bail!("{}", diagnostic.render("input", &file.input, &parsed.module.lines, false));
    }
    Ok(parsed.module)
}
