//! How the device is to be: what the command asks for, and what it leaves to us.

use std::time::Duration;

use gpu::Model;
use settings::Schedule;

use crate::logical_device::{self, LogicalDevice};

/// How the device is to be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DeviceSettings {
    /// The GPUs that the program sees; one that is none if it sees what the device is.
    pub(crate) gpus: Vec<Option<&'static Model>>,
    /// Bytes of memory of each, if that is asked for.
    memory: Option<u64>,
    /// After which time a kernel is ended; nothing for no limit.
    pub(crate) launch_timeout: Option<Duration>,
    /// The compute capability that is reported, as ten times the number; nothing to choose one.
    pub(crate) compute_capability: Option<u32>,
    /// What kernels are compiled for; nothing for the processor that we run on.
    pub(crate) processor: Option<String>,
    /// How many OS threads run the blocks of a kernel.
    pub(crate) threads: usize,
    /// Who runs next where several warps can.
    pub(crate) schedule: Schedule,
    /// Whether another warp may run before each access to memory.
    pub(crate) preempt: bool,
    /// The seed of the schedule; kernels then run on one thread and repeat exactly.
    pub(crate) seed: Option<u64>,
    /// How many threads of a warp run at once, 1 or 32; nothing to leave it to the device.
    pub(crate) width: Option<u32>,
    /// How many instructions a thread may execute in a launch; nothing for no limit.
    pub(crate) instruction_budget: Option<u64>,
    /// Bytes of compiled code that are kept on disk at most; 0 for none, nothing to leave it to the device.
    pub(crate) cache_size: Option<u64>,
    /// Whether it is said why code is not kept.
    pub(crate) is_verbose: bool,
}

impl DeviceSettings {
    /// From what the command asks for, within what a device can have.
    pub(crate) fn new(asked: &settings::Device) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let schedule = asked.schedule.unwrap_or(Schedule::InOrder);
        let seed = asked.seed.or_else(|| schedule.has_seed().then_some(0));
        let threads = match seed {
            Some(_) => 1,
            None => asked.threads.map_or(cores, |threads| threads.clamp(1, 1024) as usize),
        };
        let mut gpus: Vec<_> = asked.gpus.iter().take(MOST_GPUS).map(|key| model(key)).collect();
        if gpus.is_empty() {
            gpus.push(None);
        }
        Self {
            gpus,
            memory: asked.memory,
            launch_timeout: asked.launch_timeout.map(Duration::from_secs),
            compute_capability: asked.compute_capability.map(|capability| capability.clamp(50, 999)),
            processor: asked.cpu.clone(),
            threads,
            schedule,
            preempt: asked.preempt && schedule.has_seed(),
            seed,
            width: asked.width,
            instruction_budget: asked.instruction_budget,
            cache_size: asked.cache_size,
            // The user sets this one.
            is_verbose: std::env::var_os("WARPGRIND_LOG").is_some_and(|level| level == "debug"),
        }
    }
}

/// Sets of devices have a bit for each.
const MOST_GPUS: usize = 16;

impl DeviceSettings {
    /// The devices that the program sees, of which a list may leave it some only (`CUDA_VISIBLE_DEVICES`).
    pub(crate) fn logical_devices(&self, list: Option<&str>) -> Vec<LogicalDevice> {
        let all = 0..self.gpus.len();
        let visible = list.map_or_else(|| all.collect(), |list| logical_device::visible(list, self.gpus.len()));
        let device = |place: usize| {
            let model = self.gpus[place];
            let memory = self.memory.or(model.map(|gpu| gpu.memory)).unwrap_or_else(default_memory);
            LogicalDevice::new(model, memory.max(64 << 20), place as u8)
        };
        visible.into_iter().map(device).collect()
    }

    /// The flags that repeat what kernels do, if anything does.
    pub(crate) fn repeat(&self) -> Option<String> {
        let seed = self.seed?;
        let mut flags = Vec::new();
        if self.schedule.has_seed() {
            flags.push(format!("--schedule {}", self.schedule.name()));
        }
        if self.preempt {
            flags.push("--preempt".to_owned());
        }
        flags.extend(self.width.map(|width| format!("--width {width}")));
        flags.extend(self.instruction_budget.map(|budget| format!("--instruction-budget {budget}")));
        flags.push(format!("--seed {seed}"));
        Some(flags.join(" "))
    }
}

/// The GPU that is asked for by its short name.
fn model(key: &str) -> Option<&'static Model> {
    let model = Model::named(key);
    if model.is_none() {
        crate::log::say(&format!("`{}` is no GPU that is known, so the program sees none", key.escape_debug()));
    }
    model
}

/// Three quarters of what the machine, or the container, has, so that a program that fills the device does not end the
/// process.
fn default_memory() -> u64 {
    let text = |path: &str| std::fs::read_to_string(path).ok();
    // A container without a limit says so with a number that no machine has.
    let machine = text("/proc/meminfo").and_then(|text| total_of_meminfo(&text)).unwrap_or(4 << 30);
    let limits = [
        text("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok()),
        text("/sys/fs/cgroup/memory/memory.limit_in_bytes").and_then(|text| text.trim().parse().ok()),
    ];
    limits.into_iter().flatten().fold(machine, u64::min) / 4 * 3
}

fn total_of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use settings::{Device, Schedule};

    use super::DeviceSettings;

    #[test]
    fn what_repeats_a_run() {
        let repeat = |asked: Device| DeviceSettings::new(&asked).repeat();
        assert_eq!(repeat(Device { threads: Some(2), ..Device::default() }), None);
        assert_eq!(repeat(Device { schedule: Some(Schedule::InOrder), ..Device::default() }), None);
        assert_eq!(repeat(Device { seed: Some(5), ..Device::default() }).as_deref(), Some("--seed 5"));
        let random = Device { schedule: Some(Schedule::Random), preempt: true, ..Device::default() };
        assert_eq!(DeviceSettings::new(&random).threads, 1);
        assert_eq!(repeat(random).as_deref(), Some("--schedule random --preempt --seed 0"));
        let all = Device {
            schedule: Some(Schedule::Pct),
            preempt: true,
            seed: Some(7),
            width: Some(1),
            instruction_budget: Some(1000),
            ..Device::default()
        };
        let flags = "--schedule pct --preempt --width 1 --instruction-budget 1000 --seed 7";
        assert_eq!(repeat(all).as_deref(), Some(flags));
    }

    #[test]
    fn devices_that_are_seen() {
        let asked = Device { gpus: vec!["a100".to_owned(), "t4".to_owned()], ..Device::default() };
        let seen = |list: Option<&str>| -> Vec<(Option<&str>, u8)> {
            let devices = DeviceSettings::new(&asked).logical_devices(list);
            devices.iter().map(|device| (device.model.map(|model| model.key), device.pci_bus())).collect()
        };
        assert_eq!(seen(None), [(Some("a100"), 1), (Some("t4"), 2)]);
        assert_eq!(seen(Some("1,0")), [(Some("t4"), 2), (Some("a100"), 1)]);
        assert_eq!(seen(Some("")), []);
        assert_eq!(DeviceSettings::new(&Device::default()).logical_devices(None).len(), 1);
        let small = Device { memory: Some(64 << 20), ..asked.clone() };
        let devices = DeviceSettings::new(&small).logical_devices(None);
        assert_eq!(devices.iter().map(|device| device.memory).collect::<Vec<_>>(), [64 << 20; 2]);
    }

    #[test]
    fn memory_of_a_machine() {
        assert_eq!(super::total_of_meminfo("MemTotal:       24689860 kB\nMemFree: 1 kB\n"), Some(24_689_860 << 10));
    }
}
