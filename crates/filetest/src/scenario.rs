//! What a test file says about launches: kernels, their extents, buffers and values.
//!
//! ```text
//! //@ run add: grid=2 block=64 args=a:u32[128]=iota,b:f32[4]={1 2.5 nan -inf},n:u32=5,out:u32[128]
//! //@ run add: block=64x2 shared=256 args=a,out,n:u32=7
//! ```
//!
//! - An argument `name:type[length]` is a buffer, whose address is passed; `name:type` is a value; `name:type(length)`
//!   is an array that is passed by value. The name alone is a buffer of an earlier launch.
//! - Types are `u8` … `u64`, `s8` … `s64`, `b8` … `b64` (printed in hexadecimal), `f16`, `bf16`, `f32`, `f64`.
//! - Initial values after `=`: `zero`, `iota`, a number, `{a list, repeated}` with spaces, `random(seed)`, and `edges` or
//!   `edges(r)`: the interesting values of the type, each `r` times, over and over.
//! - `~2ulp`, `~1e-6` or `~2ulp~1e-6` after a buffer of floats lets engines other than the interpreter be off by that much.
//! - `//@ schedule: matters` keeps engines away that do not schedule as the interpreter does by default.
//! - `//@ only: interpreter` keeps engines away whose name does not begin so: for what the manual leaves undefined, and
//!   the interpreter reports.

use anyhow::{Context, Result, bail};

use crate::value::{Element, Tolerance, parse_value};

/// All launches of a test file.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// In order.
    pub launches: Vec<LaunchLine>,
    /// Every buffer that is named, in the order of its first use.
    pub buffers: Vec<Buffer>,
    /// Whether the results depend on who runs when.
    pub schedule_matters: bool,
    /// What the names of the engines begin with that may run it; empty for all.
    pub only: String,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct LaunchLine {
    /// The kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// What is passed.
    pub args: Vec<Argument>,
}

/// What a kernel is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The address of the n-th buffer.
    Buffer(usize),
    /// Bytes.
    Value(Vec<u8>),
}

/// Memory that kernels work on.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub element: Element,
    /// What it holds in the beginning.
    pub initial: Vec<u8>,
    /// Whether an initial value was given.
    pub is_input: bool,
    /// How far engines may differ.
    pub tolerance: Tolerance,
}

impl Scenario {
    /// Reads the lines of a test file that describe launches.
    pub fn parse(text: &str) -> Result<Self> {
        let mut scenario = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(rest) = line.strip_prefix("//@ run ") {
                let launch = scenario.launch(rest).with_context(|| format!("line {number}"))?;
                scenario.launches.push(launch);
            } else if line.trim_end() == "//@ schedule: matters" {
                scenario.schedule_matters = true;
            } else if let Some(only) = line.strip_prefix("//@ only:") {
                scenario.only = only.trim().to_owned();
            }
        }
        if scenario.launches.is_empty() {
            bail!("there is no line `//@ run KERNEL: …`");
        }
        Ok(scenario)
    }

    fn launch(&mut self, text: &str) -> Result<LaunchLine> {
        let (kernel, rest) = text.split_once(':').context("expected `KERNEL: …`")?;
        let kernel = kernel.trim().to_owned();
        let mut launch = LaunchLine { kernel, grid: [1; 3], block: [1; 3], shared: 0, args: Vec::new() };
        // Arguments come last, because their lists have spaces.
        let (settings, args) = rest.split_once("args=").unwrap_or((rest, ""));
        for setting in settings.split_whitespace() {
            match setting.split_once('=') {
                Some(("grid", value)) => launch.grid = extent(value)?,
                Some(("block", value)) => launch.block = extent(value)?,
                Some(("shared", value)) => launch.shared = value.parse().context("bytes of shared memory")?,
                _ => bail!("`{setting}` is none of grid=, block=, shared=, args="),
            }
        }
        for arg in args.split(',').map(str::trim).filter(|arg| !arg.is_empty()) {
            let parsed = self.argument(arg).with_context(|| format!("argument `{arg}`"))?;
            launch.args.push(parsed);
        }
        Ok(launch)
    }

    fn argument(&mut self, text: &str) -> Result<Argument> {
        let Some((name, rest)) = text.split_once(':') else {
            let known = self.buffers.iter().position(|buffer| buffer.name == text);
            return known.map(Argument::Buffer).with_context(|| format!("there is no buffer `{text}` yet"));
        };
        let (rest, tolerance) = match rest.split_once('~') {
            Some((rest, ulps)) => (rest, Tolerance::parse(ulps)?),
            None => (rest, Tolerance::default()),
        };
        let (shape, initial) = rest.split_once('=').map_or((rest, None), |(shape, initial)| (shape, Some(initial)));
        let (element, form, len) = if let Some((element, len)) = shape.split_once('[') {
            (element, '[', len.strip_suffix(']').context("expected `]`")?)
        } else if let Some((element, len)) = shape.split_once('(') {
            (element, '(', len.strip_suffix(')').context("expected `)`")?)
        } else {
            (shape, ' ', "1")
        };
        let element = Element::parse(element).with_context(|| format!("`{element}` is not a type"))?;
        let len: usize = len.parse().context("length")?;
        let bytes = fill(element, len, initial.unwrap_or("zero"))?;
        if form != '[' {
            return Ok(Argument::Value(bytes));
        }
        if self.buffers.iter().any(|buffer| buffer.name == name) {
            bail!("there is a buffer `{name}` already");
        }
        let (name, is_input) = (name.to_owned(), initial.is_some());
        self.buffers.push(Buffer { name, element, initial: bytes, is_input, tolerance });
        Ok(Argument::Buffer(self.buffers.len() - 1))
    }
}

fn extent(text: &str) -> Result<[u32; 3]> {
    let mut extent = [1; 3];
    let mut parts = text.split('x');
    for (target, part) in extent.iter_mut().zip(&mut parts) {
        *target = part.parse().with_context(|| format!("`{part}` is not a number"))?;
    }
    if parts.next().is_some() {
        bail!("`{text}` has more than three extents");
    }
    Ok(extent)
}

/// The bytes of elements that an initial value describes.
fn fill(element: Element, len: usize, initial: &str) -> Result<Vec<u8>> {
    let in_parentheses = |name: &str| -> Result<Option<u64>> {
        let Some(rest) = initial.strip_prefix(name) else {
            return Ok(None);
        };
        if rest.is_empty() {
            return Ok(Some(1));
        }
        let number = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let number = number.with_context(|| format!("expected `{name}(NUMBER)`"))?;
        Ok(Some(number.parse().context("number in parentheses")?))
    };
    let mut bytes = Vec::with_capacity(len * element.bytes());
    let mut push = |bits: u64| bytes.extend_from_slice(&bits.to_le_bytes()[..element.bytes()]);
    if initial == "zero" {
        (0..len).for_each(|_| push(0));
    } else if initial == "iota" {
        (0..len).for_each(|index| push(element.from_index(index as u64)));
    } else if let Some(seed) = in_parentheses("random")? {
        let random = crate::generate::random_bytes(seed, len * 8);
        random.chunks_exact(8).for_each(|chunk| push(u64::from_le_bytes(chunk.try_into().expect("eight bytes"))));
    } else if let Some(repeat) = in_parentheses("edges")? {
        let edges = element.edges();
        (0..len).for_each(|index| push(edges[index / repeat.max(1) as usize % edges.len()]));
    } else if let Some(list) = initial.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let values: Vec<u64> = list.split_whitespace().map(|word| parse_value(element, word)).collect::<Result<_>>()?;
        if values.is_empty() {
            bail!("an empty list");
        }
        (0..len).for_each(|index| push(values[index % values.len()]));
    } else {
        let value = parse_value(element, initial)?;
        (0..len).for_each(|_| push(value));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_and_buffers() {
        let text =
            "//@ run k: grid=2x3 block=64 shared=16 args=a:u8[3]={1 2},n:s16=-1,out:f32[2]~2ulp\n//@ run k: args=out";
        let scenario = Scenario::parse(text).unwrap();
        assert_eq!(scenario.launches[0].grid, [2, 3, 1]);
        assert_eq!(scenario.launches[0].shared, 16);
        assert_eq!(scenario.buffers[0].initial, [1, 2, 1]);
        assert_eq!(scenario.launches[0].args[1], Argument::Value(vec![0xff, 0xff]));
        assert_eq!(scenario.buffers[1].tolerance.ulps, 2);
        assert_eq!(scenario.launches[1].args, [Argument::Buffer(1)]);
        assert!(Scenario::parse("//@ run k: args=nobody").is_err());
        assert!(Scenario::parse("//@ run k: args=a:u7[2]").is_err());
    }
}
