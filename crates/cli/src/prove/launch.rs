//! A launch from the command line: parameters laid out, buffers at addresses of their own.

use anyhow::{Context, Result, bail};
use ptx::analysis::footprint::{Launch, Object};
use ptx::ir::{FuncId, Module, Param};

use super::Args;
use super::argument::{self, Argument};

/// What a launch consists of.
pub(super) struct LaunchArguments {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: Vec<u8>,
    names: Vec<String>,
    objects: Vec<Object<'static>>,
}

/// Where the first buffer is. As `cudaMalloc` does, all are aligned to 256 bytes; there is space between them.
const FIRST: u64 = 0x0100_0000_0000;
const ALIGNMENT: u64 = 256;

impl LaunchArguments {
    pub(super) fn new(module: &Module, kernel: FuncId, args: &Args) -> Result<Self> {
        let function = &module.functions[kernel];
        let arguments = argument::parse(args.args.as_deref().unwrap_or_default()).context("--args")?;
        let (grid, block) = (args.grid.unwrap_or([1; 3]), args.block.unwrap_or([1; 3]));
        if arguments.len() != function.params.len() {
            let (given, wanted) = (arguments.len(), function.params.len());
            bail!("the kernel has {wanted} parameters, and --args has {given}");
        }
        let threads = block.iter().map(|&extent| u64::from(extent)).product::<u64>();
        if !(1..=1024).contains(&threads) {
            bail!("a block of {threads} threads cannot be launched; it can have 1 to 1024");
        }
        if grid.contains(&0) {
            bail!("a grid without blocks cannot be launched");
        }
        let mut launch = Self {
            grid,
            block,
            shared: args.shared.unwrap_or(0),
            params: Vec::new(),
            names: Vec::new(),
            objects: Vec::new(),
        };
        let mut next = FIRST;
        for (place, (param, argument)) in function.params.iter().zip(&arguments).enumerate() {
            let Param::Var(var) = param else { bail!("parameter {place} is in a register, which no kernel has") };
            let variable = &function.vars[*var];
            let align = variable.alignment().max(1) as usize;
            launch.params.resize(launch.params.len().next_multiple_of(align), 0);
            let bytes = match argument {
                Argument::Buffer(name, size) => {
                    if launch.names.contains(name) {
                        bail!("there are two buffers `{name}`; the name alone stands for an earlier one");
                    }
                    launch.names.push(name.clone());
                    launch.objects.push(Object { start: next, size: *size, variable: None });
                    let start = next;
                    next = next.checked_add(*size).context("the buffers are too large")?.next_multiple_of(ALIGNMENT)
                        + (1 << 32);
                    start.to_le_bytes().to_vec()
                }
                Argument::Again(name) => {
                    let known = launch.names.iter().position(|known| known == name);
                    let known =
                        known.with_context(|| format!("there is no buffer `{name}` before parameter {place}"))?;
                    launch.objects[known].start.to_le_bytes().to_vec()
                }
                Argument::Value(bytes) => bytes.clone(),
            };
            let wanted = variable.size().unwrap_or(0);
            if bytes.len() as u64 != wanted {
                bail!("parameter {place} of the kernel has {wanted} bytes, and the argument has {}", bytes.len());
            }
            launch.params.extend(bytes);
        }
        Ok(launch)
    }

    /// What a footprint is asked for.
    pub(super) fn launch(&self) -> Launch<'_> {
        Launch {
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.shared,
            params: &self.params,
            objects: &self.objects,
        }
    }

    /// How a buffer is called.
    pub(super) fn name(&self, object: usize) -> String {
        self.names.get(object).map_or_else(|| format!("object {object}"), |name| format!("`{name}`"))
    }
}

/// Reads `64x4`.
pub(super) fn extents(text: &str) -> Result<[u32; 3], String> {
    let mut extents = [1; 3];
    let parts: Vec<&str> = text.split('x').collect();
    if parts.len() > 3 {
        return Err(format!("`{text}` has more than three extents"));
    }
    for (extent, part) in extents.iter_mut().zip(parts) {
        *extent = part.parse().map_err(|_| format!("`{part}` is not a number"))?;
    }
    Ok(extents)
}
