//! `rewrite TOOL … [$$VERSION …]`: the versions that tools make of the functions of a module, all or those that are named, and
//! functions that they change in place.

use anyhow::{Result, bail, ensure};
use rewrite::{Instrumentation, Rewriter};

use crate::testfile::TestFile;

pub(super) fn run(file: &TestFile, names: &str) -> Result<String> {
    let module = super::parse_clean(file)?;
    let before: Vec<(String, String)> = module
        .functions
        .values()
        .map(|function| (module.text(function.name).to_owned(), ptx::print_function(&module, function)))
        .collect();
    let mut tools: Vec<&dyn Instrumentation> = Vec::new();
    let (versions, names): (Vec<&str>, Vec<&str>) = names.split_whitespace().partition(|name| name.starts_with("$$"));
    for name in names {
        let Some(tool) = tools::tool(name) else { bail!("there is no tool `{name}`") };
        tools.push(tool.instrumentation());
    }
    let rewritten = Rewriter::new(&tools)?.rewrite(module)?.module;
    let complaints = ptx::verify(&rewritten);
    let whole = ptx::print(&rewritten);
    ensure!(complaints.is_empty(), "it does not verify: {complaints:?}\n{whole}");
    let again = ptx::parse(&whole);
    ensure!(again.diagnostics.is_empty(), "it cannot be read again: {:?}\n{whole}", again.diagnostics);
    // What is still the same is not shown.
    let is_of_program = |name: &str| before.iter().any(|(known, _)| name.split("$$").next() == Some(known));
    let is_new = |text: &String| !before.iter().any(|(_, known)| known == text);
    let functions = rewritten.functions.values().filter(|function| function.body.is_some());
    let is_asked = |name: &str| match name.find("$$") {
        Some(at) => versions.is_empty() || versions.contains(&&name[at..]),
        None => true,
    };
    let functions = functions
        .filter(|function| is_of_program(rewritten.text(function.name)) && is_asked(rewritten.text(function.name)));
    let texts = functions.map(|function| ptx::print_function(&rewritten, function)).filter(is_new);
    Ok(texts.collect::<Vec<_>>().join("\n"))
}
