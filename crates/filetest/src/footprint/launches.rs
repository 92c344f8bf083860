//! Launches to ask about: those of the benchmarks, and where their buffers are.

use anyhow::{Context, Result, bail};
use ptx::analysis::footprint::{Launch, Object};
use ptx::ir::{Module, Param};

use crate::scenario::{Argument, LaunchLine, Scenario};

/// A benchmark with its launches.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// Its name.
    pub name: String,
    /// The name of its source.
    pub source: String,
    /// Its launches, each with buffers of its own.
    pub launches: Vec<Scenario>,
}

/// Reads a list of benchmarks: see `bench/launches.txt`.
pub fn benchmarks(text: &str) -> Result<Vec<Benchmark>> {
    let mut all: Vec<Benchmark> = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((name, source)) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')?.split_once(": ")) {
            all.push(Benchmark { name: name.to_owned(), source: source.to_owned(), launches: Vec::new() });
            continue;
        }
        let benchmark = all.last_mut().with_context(|| format!("line {number} belongs to no benchmark"))?;
        for line in repeated(line).with_context(|| format!("line {number}"))? {
            benchmark.launches.push(Scenario::parse(&format!("//@ run {line}"))?);
        }
    }
    Ok(all)
}

/// The lines that `each` makes of one.
fn repeated(line: &str) -> Result<Vec<String>> {
    let Some(rest) = line.strip_prefix("each ") else { return Ok(vec![line.to_owned()]) };
    let (variable, rest) = rest.split_once(' ').context("expected a launch after `each`")?;
    let (name, values) = variable.split_once('=').context("expected `each NAME=…`")?;
    let rest = if rest.split_once(' ').is_some_and(|(word, _)| word.contains('=')) {
        format!("each {rest}")
    } else {
        rest.to_owned()
    };
    let values: Vec<i64> = match values.split_once("..") {
        Some((first, last)) => (first.parse()?..=last.parse()?).collect(),
        None => values.split(',').map(str::parse).collect::<Result<_, _>>()?,
    };
    let mut lines = Vec::new();
    for value in values {
        lines.extend(repeated(&rest.replace(&format!("${name}"), &value.to_string()))?);
    }
    Ok(lines)
}

/// A launch with the addresses of its buffers.
#[derive(Clone, Debug)]
pub struct PlacedLaunch {
    /// The kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// The parameters, laid out.
    pub params: Vec<u8>,
    /// Start and size of each buffer.
    pub objects: Vec<Object<'static>>,
}

impl PlacedLaunch {
    /// Places buffers where `address` says, or far apart.
    pub fn new(module: &Module, line: &LaunchLine, sizes: &[u64], addresses: Option<&[u64]>) -> Result<Self> {
        let kernel = module.function(&line.kernel).with_context(|| format!("there is no kernel `{}`", line.kernel))?;
        let function = &module.functions[kernel];
        let mut next = 0x0100_0000_0000_u64;
        let mut objects = Vec::new();
        for (place, &size) in sizes.iter().enumerate() {
            let start = addresses.map_or(next, |addresses| addresses[place]);
            objects.push(Object { start, size, variable: None });
            next = (next + size).next_multiple_of(4096) + 4096;
        }
        let mut params = Vec::new();
        if function.params.len() != line.args.len() {
            bail!("`{}` has {} parameters, not {}", line.kernel, function.params.len(), line.args.len());
        }
        for (param, argument) in function.params.iter().zip(&line.args) {
            let Param::Var(var) = param else { bail!("a parameter in a register") };
            let variable = &function.vars[*var];
            params.resize(params.len().next_multiple_of(variable.alignment().max(1) as usize), 0);
            match argument {
                Argument::Buffer(place) => params.extend(objects[*place].start.to_le_bytes()),
                Argument::Value(bytes) => params.extend(bytes),
            }
        }
        Ok(Self {
            kernel: line.kernel.clone(),
            grid: line.grid,
            block: line.block,
            shared: line.shared,
            params,
            objects,
        })
    }

    /// What a footprint is asked for.
    pub fn launch(&self) -> Launch<'_> {
        Launch {
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.shared,
            params: &self.params,
            objects: &self.objects,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repeats_a_launch() {
        let lines = repeated("each s=0..2 d=0..$s k: args=a:s32=$s,b:s32=$d").unwrap();
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[4], "k: args=a:s32=2,b:s32=1");
    }
}
