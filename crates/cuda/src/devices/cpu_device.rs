//! The CPU device, set up as the command asks for it.

use std::sync::Arc;

use device::Device;
use settings::Schedule;

use crate::device_settings::DeviceSettings;
use crate::error::{CudaError, Result};

pub(crate) use cpu::{
    ProgramFault, begin_to_end, ends_soon, leave_signals_to_the_program, on_program_fault, stop_compiling,
};

/// Sets the device up, with so many bytes of memory.
pub(crate) fn open(settings: &DeviceSettings, memory: u64) -> Result<Arc<dyn Device>> {
    let device = cpu::Device::new(memory).map_err(|error| {
        crate::log::say(&format!(
            "{memory} bytes of address space for device memory cannot be had ({error}): try a smaller --device-memory"
        ));
        CudaError::OUT_OF_MEMORY
    })?;
    let cache_size = settings.cache_size.unwrap_or(cpu::CodeCache::DEFAULT_LIMIT);
    if cache_size > 0 {
        let tell = |why: &str| crate::log::say(&format!("compiled kernels are not kept on disk: {why}"));
        device.keep_code(cpu::CodeCache::of_user(cache_size, if settings.is_verbose { tell } else { |_| {} }));
    }
    Ok(Arc::new(cpu::CpuDevice::new(device, mode(settings))))
}

/// How kernels are compiled and run.
fn mode(settings: &DeviceSettings) -> cpu::Mode {
    cpu::Mode {
        // What repeats exactly must not depend on when code is ready.
        warm_up: if settings.seed.is_some() { cpu::WarmUp::ByThreads } else { cpu::WarmUp::ByTime },
        seed: settings.seed.unwrap_or(0),
        schedule: match settings.schedule {
            Schedule::InOrder => cpu::Schedule::InOrder,
            Schedule::Random => cpu::Schedule::Random,
            Schedule::Pct => cpu::Schedule::Pct,
        },
        preempt: settings.preempt,
        width: if settings.width == Some(1) { cpu::Width::Thread } else { cpu::Width::Warp },
        budget: settings.instruction_budget,
        threads: settings.threads,
        timeout: settings.launch_timeout,
        processor: settings.processor.as_deref().and_then(processor),
        ..cpu::Mode::default()
    }
}

/// What `--cpu` asks for, if this processor can run it.
fn processor(name: &str) -> Option<cpu::Processor> {
    let processor = cpu::Processor::named(name).filter(|processor| processor.is_supported());
    if processor.is_none() {
        let name = name.escape_debug();
        crate::log::say(&format!("this processor cannot run code for `{name}`; kernels are compiled for what it is"));
    }
    processor
}
