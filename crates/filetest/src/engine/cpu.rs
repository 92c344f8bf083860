//! The CPU device as an engine: at both widths, in both tiers, in random schedules, and by parts of grids.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use cpu::{Mode, Processor, Program, Schedule, Tier, Width};
use device::{Blocks, FaultKind, LaunchError, LaunchRequest};
use ptx::ir::Module;

use super::communication::communicates;
use super::{Device, Ending, Engine, FaultClass};
use crate::scenario::Scenario;

/// The CPU device in some mode.
#[derive(Clone, Debug)]
pub struct CpuDevice {
    name: &'static str,
    mode: Mode,
    parts: Parts,
}

/// In how many launches a grid is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Parts {
    /// One.
    Whole,
    /// Two, of half of the blocks each.
    Halves,
    /// One for each block.
    Blocks,
}

/// All modes that test files run in.
pub(super) fn engines() -> Vec<Box<dyn Engine>> {
    let mode = |width, tier, is_random| Mode {
        width,
        tier,
        schedule: if is_random { Schedule::Random } else { Schedule::InOrder },
        preempt: is_random,
        seed: 1,
        timeout: Some(Duration::from_secs(8)),
        ..Mode::default()
    };
    let engine = |name, mode| -> Box<dyn Engine> { Box::new(CpuDevice::new(name, mode)) };
    let in_parts = |name, mode, parts| -> Box<dyn Engine> { Box::new(CpuDevice { name, mode, parts }) };
    vec![
        engine("one lane, baseline", mode(Width::Thread, Tier::Baseline, false)),
        engine("one lane, optimised, random schedule", mode(Width::Thread, Tier::Optimised, true)),
        engine("warp, baseline", mode(Width::Warp, Tier::Baseline, false)),
        engine("warp, optimised", mode(Width::Warp, Tier::Optimised, false)),
        engine("warp, optimised, random schedule", mode(Width::Warp, Tier::Optimised, true)),
        in_parts("warp, optimised, by halves of the grid", mode(Width::Warp, Tier::Optimised, false), Parts::Halves),
        in_parts("warp, baseline, block by block", mode(Width::Warp, Tier::Baseline, false), Parts::Blocks),
    ]
}

/// For processors without AVX-512, for which LLVM makes very different code.
pub fn older_processor() -> Option<Box<dyn Engine>> {
    let processor = Processor::V3;
    let mode = Mode { processor: Some(processor), timeout: Some(Duration::from_secs(8)), ..Mode::default() };
    let engine = CpuDevice::new("warp, optimised, AVX2", mode);
    processor.is_supported().then(|| -> Box<dyn Engine> { Box::new(engine) })
}

impl CpuDevice {
    /// The device in a mode.
    pub fn new(name: &'static str, mode: Mode) -> Self {
        Self { name, mode, parts: Parts::Whole }
    }
}

impl Engine for CpuDevice {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn suits(&self, module: &Module, scenario: &Scenario) -> bool {
        let has_parts = |launch: &crate::scenario::LaunchLine| {
            launch.grid.iter().product::<u32>() > 1 && !communicates(module, &launch.kernel)
        };
        self.parts == Parts::Whole || scenario.launches.iter().any(has_parts)
    }

    fn load<'m>(&self, module: &'m Module) -> Result<Box<dyn Device + 'm>> {
        let device = cpu::Device::new(256 << 20)?;
        let program = Program::load(&device, module.clone())?;
        Ok(Box::new(Loaded { device, program, mode: self.mode.clone(), parts: self.parts }))
    }
}

struct Loaded {
    device: Arc<cpu::Device>,
    program: Program,
    mode: Mode,
    parts: Parts,
}

impl Loaded {
    /// The parts of the grid that are launched one after the other.
    fn parts(&self, launch: &interp::Launch<'_>) -> Vec<Blocks<'static>> {
        let blocks = Blocks::All.count(launch.grid);
        match self.parts {
            Parts::Whole => vec![Blocks::All],
            _ if communicates(self.program.module(), launch.kernel) => vec![Blocks::All],
            Parts::Halves => vec![Blocks::Range(0, blocks / 2), Blocks::Range(blocks / 2, blocks)],
            Parts::Blocks => (0..blocks).map(|block| Blocks::Range(block, block + 1)).collect(),
        }
    }

    fn launch_part(
        &mut self,
        launch: &interp::Launch<'_>,
        blocks: Blocks<'_>,
    ) -> Result<device::Launched, LaunchError> {
        let request = LaunchRequest {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            blocks,
            ..LaunchRequest::of(launch.kernel, launch.params)
        };
        // SAFETY: test kernels only access their own allocations, or addresses at which nothing is, on purpose.
        #[allow(unsafe_code, reason = "kernels access memory by its address")]
        unsafe {
            self.program.launch(&request, &self.mode)
        }
    }
}

impl Device for Loaded {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64> {
        Ok(self.device.memory.allocate(bytes, align)?)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        ensure!(self.device.memory.write(address, bytes), "the bytes do not fit the allocation");
        Ok(())
    }

    fn read(&mut self, address: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(len)?];
        ensure!(self.device.memory.read(address, &mut bytes), "there are not so many bytes in the allocation");
        Ok(bytes)
    }

    fn launch(&mut self, launch: &interp::Launch<'_>) -> Result<Ending> {
        let result = self.parts(launch).into_iter().try_for_each(|part| self.launch_part(launch, part).map(drop));
        let output = String::from_utf8_lossy(&self.device.output().take()).into_owned();
        Ok(match result {
            Ok(()) => Ending::Done(output),
            Err(error @ (LaunchError::NoKernel(_) | LaunchError::Invalid(_))) => return Err(error.into()),
            Err(error) => Ending::Fault(class(&error), error.to_string()),
        })
    }
}

fn class(error: &LaunchError) -> FaultClass {
    let LaunchError::Fault(fault) = error else { return FaultClass::Refused };
    match fault.kind {
        FaultKind::IllegalAddress { .. } | FaultKind::Misaligned { .. } => FaultClass::Access,
        FaultKind::Trap => FaultClass::Trap,
        FaultKind::Assertion { .. } => FaultClass::Assertion,
        FaultKind::StackOverflow => FaultClass::StackOverflow,
        FaultKind::Deadlock { .. } => FaultClass::Deadlock,
        FaultKind::Timeout { .. } | FaultKind::OverBudget { .. } => FaultClass::Budget,
        FaultKind::Unsupported { .. } => FaultClass::Refused,
        _ => FaultClass::Undefined,
    }
}
