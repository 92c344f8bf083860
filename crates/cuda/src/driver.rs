//! What there is once in a process: the device, and whether it still works.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use device::Device;

use crate::device_settings::DeviceSettings;
use crate::devices;
use crate::error::{CudaError, Result};

/// What there is once in a process.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) settings: DeviceSettings,
    pub(crate) device: Arc<dyn Device>,
    /// The process that it was started in. After `fork`, the child has none of its threads.
    process: u32,
}

static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();
/// The error that ended all work; 0 while there is none.
static FAULT: AtomicU32 = AtomicU32::new(0);

/// Starts the driver, if it was not started before.
pub(crate) fn start() -> Result<&'static Driver> {
    let driver = DRIVER.get_or_init(|| {
        let asked = settings_of_run();
        let mut settings = DeviceSettings::new(&asked.device);
        settings.is_verbose &= !crate::process::is_secure();
        let device = open(&mut settings, &asked).inspect_err(|_| {
            crate::tooling::did_not_start(
                &asked.tools,
                "CUDA did not start in a process; why is on its standard error",
            );
        })?;
        crate::process::life::watch();
        Ok(Driver { settings, device, process: std::process::id() })
    });
    let driver = driver.as_ref().map_err(|&error| error)?;
    if driver.process != std::process::id() {
        return Err(CudaError::NOT_INITIALIZED);
    }
    Ok(driver)
}

/// The device, with tools at work.
fn open(settings: &mut DeviceSettings, asked: &settings::Settings) -> Result<Arc<dyn Device>> {
    let device = match &asked.device.driver {
        None => devices::cpu_device::open(settings)?,
        Some(driver) => devices::gpu_device::open(settings, driver, asked.device.memory)?,
    };
    crate::device_memory::set(&device);
    crate::tooling::start(&device, &asked.tools, settings.seed, settings.repeat())?;
    Ok(device)
}

/// What the command asks for. What cannot be read is said, and nothing of it counts.
fn settings_of_run() -> settings::Settings {
    // Who starts a program that has other rights than he has does not tell it where to write.
    if crate::process::is_secure() {
        return settings::Settings::default();
    }
    let read = settings::Settings::from_environment().unwrap_or_else(|error| {
        crate::log::say(&format!("{error}; all settings of the run are ignored"));
        None
    });
    read.unwrap_or_default()
}

/// The driver, if it was started.
pub(crate) fn get() -> Result<&'static Driver> {
    if DRIVER.get().is_none() { Err(CudaError::NOT_INITIALIZED) } else { start() }
}

/// Whether the driver was started and still works.
pub(crate) fn check() -> Result<()> {
    get()?;
    fault().map_or(Ok(()), Err)
}

/// The error that ended all work: a kernel went wrong, and the memory of the device is in an unknown state. As with
/// NVIDIA's driver, it stays until the process ends.
pub(crate) fn fault() -> Option<CudaError> {
    CudaError::from_code(FAULT.load(Ordering::Relaxed))
}

/// Ends all work.
pub(crate) fn fail(error: CudaError) {
    // The first one stays.
    let _ = FAULT.compare_exchange(0, error.code(), Ordering::Relaxed, Ordering::Relaxed);
}
