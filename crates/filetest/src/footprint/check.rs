//! Whether a launch does what was proved of it: by running it in the interpreter and looking at every access.

use std::collections::HashMap;

use anyhow::{Context, Result};
use interp::{Config, Launch, LaunchError, Machine, ThreadAccess, Window};
use ptx::analysis::footprint::{Accessed, Condition, Footprint, Kernel, Reader};
use ptx::ir::{FuncId, Module, StmtId};
use ptx::view::{Order, Scope, View};

use super::launches::PlacedLaunch;
use crate::scenario::Scenario;

/// What a run of a launch showed.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Why an access left its buffer or was misaligned.
    pub fault: Option<String>,
    /// Two accesses that conflicted.
    pub race: Option<(ThreadAccess, ThreadAccess)>,
    /// Whether the launch ended otherwise than well, so that not everything was seen.
    pub is_partial: bool,
    /// Whether a thread wrote what another one certainly reads, if races depend on that.
    pub met_condition: bool,
    /// What is not as the condition for races says.
    pub wrong_condition: Option<String>,
}

/// What is proved of the launch of a scenario, and what runs of it showed.
#[derive(Debug)]
pub struct Checked {
    /// What is proved.
    pub footprint: Footprint,
    /// How long that took, in milliseconds.
    pub milliseconds: f64,
    /// What a run showed.
    pub observed: Observed,
}

impl Checked {
    /// A claim that does not hold, in words.
    pub fn wrong_claim(&self) -> Option<String> {
        if let (true, Some(fault)) = (self.footprint.bounds.is_proved(), &self.observed.fault) {
            return Some(format!("in bounds was proved, but: {fault}"));
        }
        if let (None, Some(wrong)) = (&self.observed.fault, &self.observed.wrong_condition) {
            return Some(wrong.clone());
        }
        // Race-freedom is claimed as long as accesses stay in their objects.
        match &self.observed.race {
            Some((one, other)) if self.footprint.races.is_proved() && self.observed.fault.is_none() => {
                Some(format!("race-free was proved, but these conflict:\n  {one:?}\n  {other:?}"))
            }
            _ => None,
        }
    }
}

/// Proves what can be proved of the first launch of a scenario.
pub fn prove(module: &Module, scenario: &Scenario) -> Result<Footprint> {
    let line = &scenario.launches[0];
    let sizes: Vec<u64> = scenario.buffers.iter().map(|buffer| buffer.initial.len() as u64).collect();
    let placed = PlacedLaunch::new(module, line, &sizes, None)?;
    let id = module.function(&line.kernel).context("the kernel is there")?;
    Ok(Kernel::of(module, id).context("the kernel has a body")?.footprint(&placed.launch()))
}

/// Time of the processor that this thread took so far, in milliseconds: others on the machine do not count.
pub fn thread_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Proves what can be proved of the first launch of a scenario, and runs it.
pub fn check(module: &Module, scenario: &Scenario, seed: u64) -> Result<Checked> {
    let line = &scenario.launches[0];
    let config = Config { seed, lists_accesses: true, instruction_budget: 20_000_000, ..Config::default() };
    let mut machine = Machine::new(module, config).context("the interpreter takes the module")?;
    let mut addresses = Vec::new();
    for buffer in &scenario.buffers {
        let address = machine.allocate(buffer.initial.len() as u64, 256);
        machine.write(address, &buffer.initial).context("the buffer is there")?;
        addresses.push(address);
        // So that an access that misses its buffer hits no other.
        machine.allocate(1 << 16, 256);
    }
    let sizes: Vec<u64> = scenario.buffers.iter().map(|buffer| buffer.initial.len() as u64).collect();
    let placed = PlacedLaunch::new(module, line, &sizes, Some(&addresses))?;
    let id = module.function(&line.kernel).context("the kernel is there")?;
    let kernel = Kernel::of(module, id).context("the kernel has a body")?;
    let start = thread_time();
    let footprint = kernel.footprint(&placed.launch());
    let milliseconds = thread_time() - start;
    let observed = observe(module, &mut machine, &placed, &addresses, &sizes, footprint.condition.as_ref());
    Ok(Checked { footprint, milliseconds, observed })
}

/// Runs a launch and looks at its accesses.
fn observe(
    module: &Module,
    machine: &mut Machine<'_>,
    placed: &PlacedLaunch,
    addresses: &[u64],
    sizes: &[u64],
    condition: Option<&Condition>,
) -> Observed {
    let launch = Launch {
        kernel: &placed.kernel,
        grid: placed.grid,
        block: placed.block,
        dynamic_shared: placed.shared,
        params: &placed.params,
    };
    let mut observed = Observed::default();
    match machine.launch(&launch) {
        Ok(_) => {}
        Err(LaunchError::Fault(fault)) => {
            observed.is_partial = true;
            if matches!(fault.kind, interp::FaultKind::Access { .. }) {
                observed.fault = Some(fault.to_string());
            }
        }
        Err(_) => observed.is_partial = true,
    }
    let accesses = machine.take_accesses();
    let is_inside = |access: &&ThreadAccess| {
        access.window != Window::Global
            || addresses.iter().zip(sizes).any(|(&start, &size)| {
                start <= access.address && access.address + u64::from(access.size) <= start + size
            })
    };
    if let Some(outside) = accesses.iter().find(|access| !is_inside(access)) {
        observed.fault.get_or_insert(format!("{outside:?} is in no buffer"));
    }
    observed.race = race(module, &accesses);
    if let Some(condition) = condition {
        observed.compare(condition, &accesses, addresses, placed.block);
    }
    observed
}

impl Observed {
    /// Compares accesses with what is said of the condition for races.
    fn compare(&mut self, condition: &Condition, accesses: &[ThreadAccess], addresses: &[u64], shape: [u32; 3]) {
        let Accessed::Object(number) = condition.object else { return };
        let (start, [x, y, _]) = (addresses[number], shape);
        let indices = |thread: u32| [thread % x, thread / x % y, thread / (x * y)];
        let marks = condition.marks(1 << 20);
        let is_write = |access: &&ThreadAccess| {
            let is_site = condition.writes.iter().any(|site| site.statement == Some(access.statement));
            access.write && is_site && access.window == Window::Global
        };
        for access in accesses.iter().filter(is_write) {
            let offset = access.address - start;
            let is_marked = marks.as_ref().is_none_or(|(first, bits)| {
                let bit = offset.checked_sub(*first).map(|offset| offset / u64::from(condition.bytes));
                bit.is_some_and(|bit| bits.get((bit / 64) as usize).is_some_and(|word| word >> (bit % 64) & 1 != 0))
            });
            let (block, thread, read) = match condition.reader(offset, access.block, indices(access.thread)) {
                Reader::Thread { block, thread, read } => (block, thread, read),
                Reader::Nobody => continue,
                Reader::NotSettled => {
                    self.met_condition = true;
                    continue;
                }
            };
            self.met_condition = true;
            let is_it = |other: &ThreadAccess| {
                (other.block, indices(other.thread)) == (block, thread)
                    && Some(other.statement) == condition.reads[read].site.statement
                    && other.address < access.address + u64::from(access.size)
                    && access.address < other.address + u64::from(other.size)
            };
            if !is_marked {
                self.wrong_condition = Some(format!("{access:?} is not marked"));
            } else if !self.is_partial && !accesses.iter().any(is_it) {
                self.wrong_condition =
                    Some(format!("block {block:?} thread {thread:?} does not read what {access:?} writes"));
            }
        }
        if self.met_condition != self.race.is_some() && !self.is_partial && self.wrong_condition.is_none() {
            let what =
                if self.met_condition { "met, but nothing conflicts" } else { "not met, but two accesses conflict" };
            self.wrong_condition = Some(format!("the condition is {what}: {:?}", self.race));
        }
    }
}

/// Two accesses that conflict.
fn race(module: &Module, accesses: &[ThreadAccess]) -> Option<(ThreadAccess, ThreadAccess)> {
    let mut strengths: HashMap<(FuncId, StmtId), (Option<Scope>, u32)> = HashMap::new();
    let instruction = |access: &ThreadAccess| (access.function, access.statement);
    // For each byte, who accessed it; those who did the same thing are listed once.
    let mut bytes: HashMap<(Option<[u32; 3]>, u64), Vec<&ThreadAccess>> = HashMap::new();
    for access in accesses {
        let block = match access.window {
            Window::Global => None,
            Window::Shared => Some(access.block),
            _ => continue,
        };
        let strength = |(function, statement): (FuncId, StmtId)| {
            let body = module.functions[function].body.as_ref().expect("what accesses memory has a body");
            let view = View::of(&module.forms, body, statement).expect("accesses are of instructions");
            let access = view.accesses()[0];
            let scope = match access.order {
                Order::Weak => None,
                Order::Volatile => Some(Scope::System),
                _ => Some(access.scope.unwrap_or(Scope::Device)),
            };
            (scope, view.form.types().last().map_or(0, |ty| ty.bytes()))
        };
        let own = *strengths.entry(instruction(access)).or_insert_with(|| strength(instruction(access)));
        for byte in access.address..access.address + u64::from(access.size) {
            let known = bytes.entry((block, byte)).or_default();
            for other in known.iter() {
                let is_same_block = access.block == other.block;
                let is_same_thread = is_same_block && access.thread == other.thread;
                let is_ordered = is_same_block && access.interval != other.interval;
                if is_same_thread || is_ordered || !(access.write || other.write) {
                    continue;
                }
                let also = strengths[&instruction(other)];
                let reaches = |scope: Scope| is_same_block || scope >= Scope::Device;
                let are_strong = matches!((own.0, also.0), (Some(one), Some(two)) if reaches(one) && reaches(two));
                if !(are_strong && own.1 == also.1) {
                    return Some((**other, *access));
                }
            }
            let is_known = known.iter().any(|other| {
                (other.block, other.thread, other.interval, instruction(other))
                    == (access.block, access.thread, access.interval, instruction(access))
            });
            if !is_known {
                known.push(access);
            }
        }
    }
    None
}
