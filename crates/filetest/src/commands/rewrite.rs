//! `rewrite TOOL …`: what tools make of the functions of a module, without those that they bring.

use anyhow::{Result, bail, ensure};
use rewrite::{Rewriter, Tool};

use crate::testfile::TestFile;

pub(super) fn run(file: &TestFile, names: &str) -> Result<String> {
    let module = super::parse_clean(file)?;
    let programs: Vec<String> =
        module.functions.values().map(|function| module.text(function.name).to_owned()).collect();
    let mut tools: Vec<&dyn Tool> = Vec::new();
    for name in names.split_whitespace() {
        let Some(tool) = tools::tool(name) else { bail!("there is no tool `{name}`") };
        tools.push(tool);
    }
    let rewritten = Rewriter::new(&tools).rewrite(module)?.module;
    let complaints = ptx::verify(&rewritten);
    let whole = ptx::print(&rewritten);
    ensure!(complaints.is_empty(), "it does not verify: {complaints:?}\n{whole}");
    let again = ptx::parse(&whole);
    ensure!(again.diagnostics.is_empty(), "it cannot be read again: {:?}\n{whole}", again.diagnostics);
    let is_of_program = |function: &&ptx::ir::Function| {
        programs.iter().any(|name| name == rewritten.text(function.name)) && function.body.is_some()
    };
    let functions = rewritten.functions.values().filter(is_of_program);
    Ok(functions.map(|function| ptx::print_function(&rewritten, function)).collect::<Vec<_>>().join("\n"))
}
