//! `warpgrind ptx stats`.

use std::collections::BTreeMap;

use anyhow::Result;
use ptx::diagnostic::printable;
use ptx::stats::{FunctionStats, ModuleStats};
use serde::Serialize;

use super::{Common, for_each_source};
use crate::{CommandStatus, output};

/// Arguments of `warpgrind ptx stats`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// The size of blocks, such as `256` or `16,16`: tells more about what the threads of a warp have in common.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parse_block)]
    block: Option<[u32; 3]>,
    /// List every opcode with its modifiers, not only the ten most frequent ones.
    #[arg(long)]
    all: bool,
}

/// A function as JSON.
#[derive(Serialize)]
struct Function<'a> {
    file: &'a str,
    function: &'a str,
    kernel: bool,
    instructions: usize,
    unknown: &'a BTreeMap<String, usize>,
    branches: Branches,
    accesses: Accesses,
    cyclomatic_complexity: usize,
    nodes: usize,
    edges: usize,
    selects: usize,
    predicated: usize,
    forms: &'a BTreeMap<String, usize>,
}

#[derive(Serialize)]
struct Branches {
    unconditional: usize,
    uniform: usize,
    stated_uniform: usize,
    divergent: usize,
}

#[derive(Serialize)]
struct Accesses {
    uniform: usize,
    contiguous: usize,
    strided: usize,
    scattered: usize,
}

/// `256`, `16,16` or `8,8,4`.
fn parse_block(text: &str) -> Result<[u32; 3], String> {
    let mut block = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("a block has at most three dimensions".to_owned());
    }
    for (size, part) in block.iter_mut().zip(parts) {
        *size = part.trim().parse().map_err(|_| format!("`{part}` is not a number"))?;
    }
    match block.iter().try_fold(1_u32, |threads, &size| threads.checked_mul(size)) {
        Some(1..=1024) => Ok(block),
        _ => Err("a block has between 1 and 1024 threads".to_owned()),
    }
}

pub(super) fn run(args: &Args) -> Result<CommandStatus> {
    let mut forms = BTreeMap::<String, usize>::new();
    let mut unknown = BTreeMap::<String, usize>::new();
    let (mut files, mut functions) = (0, 0);
    if !args.common.json {
        output::print(&format!(
            "{:>12} {:>8} {:>9} {:>9} {:>9} {:>10} {:>8} {:>10}  function\n",
            "instructions", "unknown", "uniform", "stated", "divergent", "complexity", "selects", "predicated"
        ))?;
    }
    let verdict = for_each_source(&args.common.path, |source| {
        let module = &source.parsed.module;
        files += 1;
        for stats in &ModuleStats::of(module, args.block).functions {
            functions += 1;
            add(&mut forms, &stats.forms);
            add(&mut unknown, &stats.unknown);
            let function = &module.functions[stats.id];
            let name = module.text(function.name);
            if args.common.json {
                output::print_json(&as_json(&source.name, name, function.is_entry(), stats))?;
            } else {
                output::print(&format!(
                    "{:>12} {:>8} {:>9} {:>9} {:>9} {:>10} {:>8} {:>10}  {}\n",
                    stats.instructions,
                    stats.unknown.values().sum::<usize>(),
                    stats.branches.uniform,
                    stats.branches.stated_uniform,
                    stats.branches.divergent,
                    stats.complexity.cyclomatic(),
                    stats.complexity.selects,
                    stats.complexity.predicated,
                    printable(name)
                ))?;
            }
        }
        Ok(())
    })?;
    if !args.common.json {
        let total: usize = forms.values().chain(unknown.values()).sum();
        output::print(&format!("\n{files} files, {functions} functions, {total} instructions\n"))?;
        list("opcodes", &forms, if args.all { usize::MAX } else { 10 })?;
        list("unknown instructions", &unknown, usize::MAX)?;
    }
    Ok(verdict)
}

fn as_json<'a>(file: &'a str, name: &'a str, kernel: bool, stats: &'a FunctionStats) -> Function<'a> {
    Function {
        file,
        function: name,
        kernel,
        instructions: stats.instructions,
        unknown: &stats.unknown,
        branches: Branches {
            unconditional: stats.branches.unconditional,
            uniform: stats.branches.uniform,
            stated_uniform: stats.branches.stated_uniform,
            divergent: stats.branches.divergent,
        },
        accesses: Accesses {
            uniform: stats.accesses.uniform,
            contiguous: stats.accesses.contiguous,
            strided: stats.accesses.strided,
            scattered: stats.accesses.scattered,
        },
        cyclomatic_complexity: stats.complexity.cyclomatic(),
        nodes: stats.complexity.nodes,
        edges: stats.complexity.edges,
        selects: stats.complexity.selects,
        predicated: stats.complexity.predicated,
        forms: &stats.forms,
    }
}

fn add(total: &mut BTreeMap<String, usize>, counts: &BTreeMap<String, usize>) {
    for (form, count) in counts {
        match total.get_mut(form) {
            Some(sum) => *sum += count,
            None => drop(total.insert(form.clone(), *count)),
        }
    }
}

/// The most frequent first.
fn list(what: &str, counts: &BTreeMap<String, usize>, most: usize) -> Result<()> {
    if counts.is_empty() {
        return output::print(&format!("no {what}\n"));
    }
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|&(form, &count)| (std::cmp::Reverse(count), form));
    output::print(&format!("{} {what}:\n", sorted.len()))?;
    for (form, count) in sorted.iter().take(most) {
        output::print(&format!("{count:>12}  {}\n", printable(form)))?;
    }
    if sorted.len() > most {
        output::print(&format!("{:>12}  and {} more: --all lists them\n", "", sorted.len() - most))?;
    }
    Ok(())
}
