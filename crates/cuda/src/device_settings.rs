//! How the device is to be: what the command asks for, and what it leaves to us.

use std::time::Duration;

/// How the device is to be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DeviceSettings {
    /// Bytes of device memory.
    pub(crate) device_memory: u64,
    /// After which time a kernel is ended; nothing for no limit.
    pub(crate) launch_timeout: Option<Duration>,
    /// The compute capability that is reported, as ten times the number; nothing to choose one.
    pub(crate) compute_capability: Option<u32>,
    /// What kernels are compiled for; nothing for the processor that we run on.
    pub(crate) processor: Option<String>,
    /// How many OS threads run the blocks of a kernel.
    pub(crate) threads: usize,
    /// The seed of the schedule; kernels then run on one thread and repeat exactly.
    pub(crate) seed: Option<u64>,
    /// Bytes of compiled code that are kept on disk at most; 0 for none, nothing to leave it to the device.
    pub(crate) cache_size: Option<u64>,
    /// Whether it is said why code is not kept.
    pub(crate) is_verbose: bool,
}

impl DeviceSettings {
    /// From what the command asks for, within what a device can have.
    pub(crate) fn new(asked: &settings::Device) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let threads = match asked.seed {
            Some(_) => 1,
            None => asked.threads.map_or(cores, |threads| threads.clamp(1, 1024) as usize),
        };
        Self {
            device_memory: asked.memory.unwrap_or_else(default_memory).max(64 << 20),
            launch_timeout: asked.launch_timeout.map(Duration::from_secs),
            compute_capability: asked.compute_capability.map(|capability| capability.clamp(50, 999)),
            processor: asked.cpu.clone(),
            threads,
            seed: asked.seed,
            cache_size: asked.cache_size,
            // The user sets this one.
            is_verbose: std::env::var_os("WARPGRIND_LOG").is_some_and(|level| level == "debug"),
        }
    }
}

/// Three quarters of what the machine, or the container, has, so that a program that fills the device does not end the
/// process.
fn default_memory() -> u64 {
    let text = |path: &str| std::fs::read_to_string(path).ok();
    let limits = [
        text("/proc/meminfo").and_then(|text| total_of_meminfo(&text)),
        text("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok()),
        text("/sys/fs/cgroup/memory/memory.limit_in_bytes").and_then(|text| text.trim().parse().ok()),
    ];
    let least = limits.into_iter().flatten().min().unwrap_or(4 << 30);
    least / 4 * 3
}

fn total_of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_of_a_machine() {
        assert_eq!(super::total_of_meminfo("MemTotal:       24689860 kB\nMemFree: 1 kB\n"), Some(24_689_860 << 10));
    }
}
