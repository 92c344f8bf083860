//! `warpgrind ptx rewrite`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use rewrite::Rewriter;

use super::for_each_source;
use crate::{CommandStatus, output};

/// Arguments of `warpgrind ptx rewrite`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A PTX file, or `-` for standard input.
    path: PathBuf,
    /// The tools, in the order in which they are applied.
    #[arg(long, value_delimiter = ',', value_name = "TOOL", default_value = "memcheck")]
    tool: Vec<String>,
}

pub(super) fn run(args: &Args) -> Result<CommandStatus> {
    let find = |name: &String| {
        let tool = tools::tool(name).with_context(|| format!("there is no tool `{name}`"))?;
        Ok(tool.instrumentation())
    };
    let tools = args.tool.iter().map(find).collect::<Result<Vec<_>>>()?;
    let rewriter = Rewriter::new(&tools)?;
    for_each_source(&args.path, |source| {
        let rewritten = rewriter.rewrite(source.parsed.module.clone())?;
        output::print(&ptx::print(&rewritten.module))
    })
}
