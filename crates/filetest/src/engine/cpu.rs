//! The CPU device as an engine: at both widths, in both tiers, and in random schedules.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use cpu::{Mode, Processor, Program, Tier, Width};
use device::{FaultKind, LaunchError, LaunchRequest};
use ptx::ir::Module;

use super::{Device, Ending, Engine, FaultClass};

/// The CPU device in some mode.
#[derive(Clone, Debug)]
pub struct CpuDevice {
    name: &'static str,
    mode: Mode,
}

/// All modes that test files run in.
pub(super) fn engines() -> Vec<Box<dyn Engine>> {
    let mode = |width, tier, random_schedule| Mode {
        width,
        tier,
        random_schedule,
        preempt: random_schedule,
        seed: 1,
        timeout: Some(Duration::from_secs(8)),
        ..Mode::default()
    };
    let engine = |name, mode| -> Box<dyn Engine> { Box::new(CpuDevice { name, mode }) };
    vec![
        engine("one lane, baseline", mode(Width::Thread, Tier::Baseline, false)),
        engine("one lane, optimised, random schedule", mode(Width::Thread, Tier::Optimised, true)),
        engine("warp, baseline", mode(Width::Warp, Tier::Baseline, false)),
        engine("warp, optimised", mode(Width::Warp, Tier::Optimised, false)),
        engine("warp, optimised, random schedule", mode(Width::Warp, Tier::Optimised, true)),
    ]
}

/// For processors without AVX-512, for which LLVM makes very different code.
pub fn older_processor() -> Option<Box<dyn Engine>> {
    let processor = Processor::V3;
    let mode = Mode { processor: Some(processor), timeout: Some(Duration::from_secs(8)), ..Mode::default() };
    let engine = CpuDevice { name: "warp, optimised, AVX2", mode };
    processor.is_supported().then(|| -> Box<dyn Engine> { Box::new(engine) })
}

impl CpuDevice {
    /// The device in a mode.
    pub fn new(name: &'static str, mode: Mode) -> Self {
        Self { name, mode }
    }
}

impl Engine for CpuDevice {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn load<'m>(&self, module: &'m Module) -> Result<Box<dyn Device + 'm>> {
        let device = cpu::Device::new(256 << 20)?;
        let program = Program::load(&device, module.clone())?;
        Ok(Box::new(Loaded { device, program, mode: self.mode.clone() }))
    }
}

struct Loaded {
    device: Arc<cpu::Device>,
    program: Program,
    mode: Mode,
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
        let request = LaunchRequest {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            ..LaunchRequest::of(launch.kernel, launch.params)
        };
        // SAFETY: test kernels only access their own allocations, or addresses at which nothing is, on purpose.
        #[allow(unsafe_code, reason = "kernels access memory by its address")]
        let result = unsafe { self.program.launch(&request, &self.mode) };
        let output = String::from_utf8_lossy(&self.device.output().take()).into_owned();
        Ok(match result {
            Ok(_) => Ending::Done(output),
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
