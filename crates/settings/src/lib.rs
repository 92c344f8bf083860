//! What a command of Warpgrind asks of the program's processes: [`Settings`], handed over in one environment variable,
//! [`VARIABLE`]. `cli` writes it, `start` and `cuda` read it, and child processes inherit it.
//!
//! ```
//! use settings::{Device, Settings};
//!
//! let settings = Settings { device: Device { seed: Some(17), ..Device::default() }, ..Settings::default() };
//! let text = settings.encode();
//! assert!(text.starts_with("v1 ") && text.contains(" seed=17 "));
//! assert_eq!(Settings::decode(text.as_bytes()), Ok(settings));
//! assert_eq!(
//!     Settings::decode(b"v1 seed=x").unwrap_err().to_string(),
//!     "`seed` in WARPGRIND_SETTINGS is `x`, not a number"
//! );
//! ```
//!
//! The variable is for our own processes: users set flags. A reader takes all of it or nothing, because with half of its
//! settings a run would check something else than the user asked for. Whether a value makes sense, such as the name of a
//! tool, is for the reader to say. Variables that other programs read (`LD_AUDIT`, `NVTX_INJECTION64_PATH`) have nothing
//! to do with this crate.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod encoding;

use std::path::PathBuf;

pub use encoding::{Error, MAX_BYTES, VARIABLE};

/// All that can be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The path of `libwarpgrind_cuda.so`, which stands for CUDA's libraries.
    pub library: Option<PathBuf>,
    /// Whether programs that the program starts run in the same way.
    pub trace_children: bool,
    /// How the device is to be.
    pub device: Device,
    /// Which tools run, and how.
    pub tools: Tools,
}

/// How the device is to be.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Device {
    /// The driver of the GPU that runs kernels; by default the processor runs them.
    pub driver: Option<PathBuf>,
    /// The GPUs that the program sees, by their short names; by default it sees one device, as what it is.
    pub gpus: Vec<String>,
    /// Bytes of memory of each device; by default those of the GPU, or a part of what the machine has.
    pub memory: Option<u64>,
    /// After how many seconds a kernel is ended with an error; never by default.
    pub launch_timeout: Option<u64>,
    /// The compute capability that the program sees, as ten times the number.
    pub compute_capability: Option<u32>,
    /// How many OS threads run the blocks of a kernel; by default one per processor.
    pub threads: Option<u32>,
    /// The level of x86-64 that kernels are compiled for, such as `x86-64-v3`; by default this processor's.
    pub cpu: Option<String>,
    /// Who runs next where several warps can; in order by default.
    pub schedule: Option<Schedule>,
    /// Whether another warp may run before each access to memory.
    pub preempt: bool,
    /// The seed of the schedule; kernels then run on one thread and repeat exactly.
    pub seed: Option<u64>,
    /// How many threads of a warp run at once: 1 or 32; by default 32.
    pub width: Option<u32>,
    /// How many instructions a thread may execute in a launch; any number by default.
    pub instruction_budget: Option<u64>,
    /// Bytes of compiled code that are kept on disk at most; 0 for none.
    pub cache_size: Option<u64>,
}

/// Who runs next where several warps can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// Who has waited longest.
    InOrder,
    /// Anybody, as the seed says.
    Random,
    /// Who has the highest priority, as the seed says (probabilistic concurrency testing).
    Pct,
}

impl Schedule {
    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::InOrder => "in-order",
            Self::Random => "random",
            Self::Pct => "pct",
        }
    }

    /// Whether it depends on a seed.
    pub fn has_seed(self) -> bool {
        self != Self::InOrder
    }
}

/// Which tools run, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tools {
    /// The names of the tools; none if the program only runs.
    pub names: Vec<String>,
    /// The directory in which processes write down what the tools find.
    pub session: Option<PathBuf>,
    /// Patterns for names of kernels (`report::KernelFilter`): only these are checked; all if there are none.
    pub kernel_names: Vec<String>,
    /// Patterns for names of kernels that are not checked.
    pub excluded_kernel_names: Vec<String>,
    /// So many launches are not checked.
    pub launch_skip: u64,
    /// After these, so many are; by default all.
    pub launch_count: Option<u64>,
    /// Whether memory is reported that was never freed.
    pub leak_check: bool,
    /// Which calls that return an error are reported.
    pub api_errors: ApiErrors,
    /// Whether a launch with findings ends with an error, as it would on a GPU; else the program goes on.
    pub stop_on_error: bool,
    /// Flags that only one tool knows.
    pub flags: Vec<ToolFlag>,
    /// How many calls are kept of a stack of the host, up to [`Tools::MOST_HOST_CALLERS`].
    pub host_callers: u64,
}

/// A flag that only one tool knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolFlag {
    /// The tool.
    pub tool: String,
    /// The flag, without dashes.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Tools {
    /// More calls of a stack of the host are never kept.
    pub const MOST_HOST_CALLERS: u64 = 100;
}

/// Which calls of CUDA that return an error are reported.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ApiErrors {
    /// All.
    All,
    /// Those that were wrong in themselves: by which the program did something with memory that is not right.
    #[default]
    Explicit,
    /// None.
    No,
}

impl Default for Settings {
    fn default() -> Self {
        Self { library: None, trace_children: true, device: Device::default(), tools: Tools::default() }
    }
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            session: None,
            kernel_names: Vec::new(),
            excluded_kernel_names: Vec::new(),
            launch_skip: 0,
            launch_count: None,
            leak_check: false,
            api_errors: ApiErrors::Explicit,
            stop_on_error: true,
            flags: Vec::new(),
            host_callers: 24,
        }
    }
}
