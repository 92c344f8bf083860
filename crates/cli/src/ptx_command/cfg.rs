//! `warpgrind ptx cfg`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use super::drawing::{Drawing, drawings};
use super::{Common, for_each_source, svg};
use crate::{CommandStatus, output};

/// Arguments of `warpgrind ptx cfg`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// The kernel or function to draw; all of them by default.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// How to draw.
    #[arg(long, value_enum, default_value_t = Format::Svg)]
    format: Format,
    /// A file for one drawing, or a directory for several; standard output by default.
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    /// A picture for browsers.
    Svg,
    /// Input of Graphviz.
    Dot,
}

pub(super) fn run(args: &Args) -> Result<CommandStatus> {
    let mut found = false;
    let verdict = for_each_source(&args.common.path, |source| {
        let drawings = drawings(source, args.function.as_deref());
        found |= !drawings.is_empty();
        if args.common.json {
            return drawings.iter().try_for_each(output::print_json);
        }
        write_drawings(args, &drawings)
    })?;
    match &args.function {
        Some(name) if !found => bail!("there is no function `{name}` with a body"),
        _ => Ok(verdict),
    }
}

fn write_drawings(args: &Args, drawings: &[Drawing]) -> Result<()> {
    let draw = |drawing: &Drawing| match args.format {
        Format::Svg => svg::draw(drawing),
        Format::Dot => dot(drawing),
    };
    match (&args.output, drawings) {
        (Some(path), [drawing]) if !path.is_dir() => write_file(path, &draw(drawing)),
        (Some(directory), drawings) => {
            std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
            let extension = if args.format == Format::Svg { "svg" } else { "dot" };
            for drawing in drawings {
                write_file(&directory.join(file_name(&drawing.function, extension)), &draw(drawing))?;
            }
            Ok(())
        }
        (None, drawings) if args.format == Format::Svg && drawings.len() > 1 => {
            let names: Vec<&str> = drawings.iter().map(|drawing| drawing.function.as_str()).take(10).collect();
            bail!(
                "there are {} functions; choose one with --function NAME, or give --output DIRECTORY ({}{})",
                drawings.len(),
                names.join(", "),
                if drawings.len() > names.len() { ", …" } else { "" }
            )
        }
        (None, drawings) => drawings.iter().try_for_each(|drawing| output::print(&draw(drawing))),
    }
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A file name for a function, whose name may be longer than file systems allow and comes from the program.
fn file_name(function: &str, extension: &str) -> String {
    let safe: String =
        function.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(100).collect();
    if safe == function {
        return format!("{safe}.{extension}");
    }
    // Different functions must not share a file.
    let hash = function
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{safe}-{hash:016x}.{extension}")
}

fn dot(drawing: &Drawing) -> String {
    let mut out = format!("digraph \"{}\" {{\n\tnode [shape=box fontname=monospace];\n", escape_dot(&drawing.function));
    let mut line = |text: String| writeln!(out, "\t{text}").expect("writing to a string");
    for block in &drawing.blocks {
        let mut label = escape_dot(&block.title());
        label += "\\l";
        for instruction in &block.instructions {
            label += &escape_dot(instruction);
            label += "\\l";
        }
        line(format!("b{} [label=\"{label}\"];", block.id));
        for edge in &block.edges {
            let note = edge.index.map_or(String::new(), |index| format!(" [label=\"{index}\"]"));
            line(format!("b{} -> b{}{note};", block.id, edge.target));
        }
    }
    out += "}\n";
    out
}

fn escape_dot(text: &str) -> String {
    ptx::diagnostic::printable(text).replace('\\', "\\\\").replace('"', "\\\"")
}
