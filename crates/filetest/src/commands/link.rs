//! `link`: what several modules become, or why they do not. Modules begin with lines `//@ module: NAME`. What comes out
//! must verify, and must be the same when it is printed, parsed and linked again.

use anyhow::{Result, bail, ensure};
use ptx::ir::Module;
use ptx::link::{Input, Linked, is_provided, link};

use crate::testfile::TestFile;

pub(super) fn run(file: &TestFile) -> Result<String> {
    match linked(&file.input)? {
        Ok(Linked { module, .. }) => {
            let printed = ptx::print(&module);
            check(&module, &printed)?;
            Ok(printed)
        }
        Err(errors) => Ok(errors.iter().map(|error| format!("error: {error}\n")).collect()),
    }
}

/// The modules of a text, linked.
pub(super) fn linked(text: &str) -> Result<Result<Linked, Vec<ptx::link::LinkError>>> {
    let mut names = Vec::new();
    let mut modules = Vec::new();
    for part in text.split("//@ module:").skip(1) {
        let (name, text) = part.split_once('\n').unwrap_or((part, ""));
        let parsed = ptx::parse(text);
        if let Some(diagnostic) = parsed.diagnostics.first() {
            bail!("{}", diagnostic.render(name.trim(), text, &parsed.module.lines, false));
        }
        names.push(name.trim().to_owned());
        modules.push(parsed.module);
    }
    ensure!(!modules.is_empty(), "there is no line `//@ module: NAME`");
    let inputs: Vec<_> = names.iter().zip(&modules).map(|(name, module)| Input { name, module }).collect();
    Ok(link(&inputs, is_provided))
}

/// What holds of every module that was linked.
pub(crate) fn check(module: &Module, printed: &str) -> Result<()> {
    if let Some(complaint) = ptx::verify(module).first() {
        bail!("what was linked does not verify: {}", complaint.message);
    }
    let parsed = ptx::parse(printed);
    if let Some(diagnostic) = parsed.diagnostics.first() {
        bail!("{}", diagnostic.render("linked", printed, &parsed.module.lines, false));
    }
    if let Some(complaint) = ptx::verify(&parsed.module).first() {
        bail!("{}", complaint.render("linked", printed, &parsed.module.lines, false));
    }
    ensure!(ptx::print(&parsed.module) == printed, "printing, parsing and printing again gives another text");
    ensure!(
        ptx::edit::origins(&parsed.module) == ptx::edit::origins(module),
        "origins are not those that were printed"
    );
    let inputs = [Input { name: "linked", module: &parsed.module }];
    let again =
        link(&inputs, is_provided).map_err(|errors| anyhow::anyhow!("it cannot be linked again: {}", errors[0]))?;
    ensure!(ptx::print(&again.module) == printed, "linking again gives another text:\n{}", ptx::print(&again.module));
    Ok(())
}
