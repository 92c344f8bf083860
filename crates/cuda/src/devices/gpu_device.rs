//! The GPU device, over the driver that the command names.

use std::path::Path;
use std::sync::Arc;

use device::Device;
use gpu::Model;
use gpu_driver::{DeviceFacts, Driver, GpuDevice};

use crate::device_settings::DeviceSettings;
use crate::error::{CudaError, Result};
use crate::logical_device::LogicalDevice;

/// Opens the first GPU of a driver. The program sees what it is.
pub(crate) fn open(
    settings: &mut DeviceSettings,
    driver: &Path,
    memory: Option<u64>,
) -> Result<(Arc<dyn Device>, Vec<LogicalDevice>)> {
    let opened = Driver::load(driver).and_then(|driver| GpuDevice::open(driver, memory));
    let (device, facts) = opened.map_err(|error| {
        crate::log::say(&format!("no GPU can be used, so CUDA does not start: {error}"));
        CudaError::NO_DEVICE
    })?;
    let bytes = facts.memory;
    let model: &'static Model = Box::leak(Box::new(model(facts)));
    settings.gpus = vec![Some(model)];
    Ok((Arc::new(device), vec![LogicalDevice::new(Some(model), bytes, 0)]))
}

/// There is one in the process, until it ends.
fn model(facts: DeviceFacts) -> Model {
    Model {
        key: "gpu",
        name: String::leak(facts.name),
        capability: facts.capability,
        multiprocessors: facts.multiprocessors,
        clock: facts.clock,
        memory: facts.memory,
        memory_clock: facts.memory_clock,
        bus: facts.bus,
        l2: facts.l2,
        single_to_double: facts.single_to_double,
    }
}
