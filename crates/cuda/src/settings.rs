//! What `warpgrind run` asks of the library, through the environment.

use std::time::Duration;

/// How the device is to be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Settings {
    /// Bytes of device memory.
    pub(crate) device_memory: u64,
    /// After which time a kernel is ended; nothing for no limit.
    pub(crate) launch_timeout: Option<Duration>,
    /// The compute capability that is reported, as ten times the number; nothing to choose one.
    pub(crate) compute_capability: Option<u32>,
    /// What kernels are compiled for; nothing for the processor that we run on.
    pub(crate) processor: Option<cpu::Processor>,
    /// How many OS threads run the blocks of a kernel.
    pub(crate) threads: usize,
    /// The seed of the schedule; kernels then run on one thread and repeat exactly.
    pub(crate) seed: Option<u64>,
    /// Bytes of compiled code that are kept on disk at most; 0 for none.
    pub(crate) cache_size: u64,
    /// Whether it is said why code is not kept.
    pub(crate) is_verbose: bool,
}

impl Settings {
    /// From the environment of the process. What cannot be understood is said and left out: the command has checked it.
    pub(crate) fn from_environment() -> Self {
        let seed = number("WARPGRIND_SEED");
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let threads = match seed {
            Some(_) => 1,
            None => number("WARPGRIND_THREADS").map_or(cores, |threads| (threads as usize).clamp(1, 1024)),
        };
        Self {
            device_memory: number("WARPGRIND_DEVICE_MEMORY").unwrap_or_else(default_memory).max(64 << 20),
            launch_timeout: number("WARPGRIND_LAUNCH_TIMEOUT").map(Duration::from_secs),
            compute_capability: number("WARPGRIND_COMPUTE_CAPABILITY").map(|number| number.clamp(50, 999) as u32),
            processor: processor(),
            threads,
            seed,
            cache_size: number("WARPGRIND_CACHE_SIZE").unwrap_or(cpu::CodeCache::DEFAULT_LIMIT),
            is_verbose: std::env::var_os("WARPGRIND_LOG").is_some_and(|level| level == "debug"),
        }
    }
}

/// What `--cpu` asks for, if this processor can run it.
fn processor() -> Option<cpu::Processor> {
    let name = std::env::var("WARPGRIND_CPU").ok()?;
    let processor = cpu::Processor::named(&name).filter(|processor| processor.is_supported());
    if processor.is_none() {
        let name = name.escape_debug();
        crate::log::say(&format!("this processor cannot run code for `{name}`; kernels are compiled for what it is"));
    }
    processor
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse().ok();
    if number.is_none() {
        crate::log::say(&format!("{name}={text} is not a number and is ignored"));
    }
    number
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
