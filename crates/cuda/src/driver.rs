//! What there is once in a process: the device, and whether it still works.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use device::Device;

use crate::device_settings::DeviceSettings;
use crate::devices;
use crate::error::{CudaError, Result};
use crate::logical_device::LogicalDevice;

/// What there is once in a process.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) settings: DeviceSettings,
    /// The device that runs all kernels.
    pub(crate) device: Arc<dyn Device>,
    /// The devices that the program sees, of which there is at least one.
    pub(crate) logical: Vec<LogicalDevice>,
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
        let (device, logical) = open(&mut settings, &asked).inspect_err(|_| {
            crate::tooling::did_not_start(
                &asked.tools,
                "CUDA did not start in a process; why is on its standard error",
            );
        })?;
        crate::process::life::watch();
        Ok(Driver { settings, device, logical })
    });
    let driver = driver.as_ref().map_err(|&error| error)?;
    // After `fork`, the child has none of its threads.
    if crate::process::life::is_copy() {
        return Err(CudaError::NOT_INITIALIZED);
    }
    Ok(driver)
}

/// The device, with tools at work, and as what the program sees it.
fn open(settings: &mut DeviceSettings, asked: &settings::Settings) -> Result<(Arc<dyn Device>, Vec<LogicalDevice>)> {
    let (device, logical) = match &asked.device.driver {
        None => {
            let logical = visible_devices(settings)?;
            let memory = logical.iter().map(|device| device.memory).fold(0, u64::saturating_add);
            (devices::cpu_device::open(settings, memory)?, logical)
        }
        Some(driver) => devices::gpu_device::open(settings, driver, asked.device.memory)?,
    };
    crate::device_memory::set(&device);
    crate::tooling::start(&device, &asked.tools, settings.seed, settings.repeat())?;
    Ok((device, logical))
}

/// The devices that `CUDA_VISIBLE_DEVICES` leaves the program, if the command names several. One is there for whoever runs
/// Warpgrind: the variable is then about GPUs of the machine, as a job of a cluster gets one of them by its number. A driver of
/// a GPU reads it by itself.
fn visible_devices(settings: &DeviceSettings) -> Result<Vec<LogicalDevice>> {
    let list = std::env::var_os("CUDA_VISIBLE_DEVICES").filter(|_| settings.gpus.len() > 1);
    let list = list.map(|list| list.to_string_lossy().into_owned());
    let devices = settings.logical_devices(list.as_deref());
    if devices.is_empty() {
        let list = list.unwrap_or_default();
        crate::log::say(&format!(
            "CUDA_VISIBLE_DEVICES is `{}`, which is none of the {} devices there are, so the program sees none",
            list.escape_debug(),
            settings.gpus.len()
        ));
        return Err(CudaError::NO_DEVICE);
    }
    Ok(devices)
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

/// A device that the program sees.
pub(crate) fn logical(device: usize) -> Result<&'static LogicalDevice> {
    start()?.logical.get(device).ok_or(CudaError::INVALID_DEVICE)
}

/// A device whose memory is counted: only one of several can have too little of it while another has some.
pub(crate) fn counted(device: usize) -> Option<&'static LogicalDevice> {
    if has_several_devices() { logical(device).ok() } else { None }
}

/// Whether the program sees several devices.
pub(crate) fn has_several_devices() -> bool {
    get().is_ok_and(|driver| driver.logical.len() > 1)
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
