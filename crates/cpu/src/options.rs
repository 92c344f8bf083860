//! What decides how a kernel is compiled. All of it is part of the key under which code is kept.

use ptx::analysis::LaunchFacts;

/// How many lanes one call of the compiled kernel runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// One thread, with a fibre of its own.
    Thread,
    /// A warp: 32 threads in vector registers.
    Warp,
}

impl Width {
    /// The number of lanes.
    pub fn lanes(self) -> u32 {
        match self {
            Self::Thread => 1,
            Self::Warp => 32,
        }
    }
}

/// How much time is spent on compiling.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tier {
    /// As little as possible: values in registers, and no further passes.
    Baseline,
    /// What kernels are worth that run long.
    Optimised,
}

impl Default for Options {
    /// A warp, optimised, with nothing known of the launch.
    fn default() -> Self {
        Self {
            width: Width::Warp,
            tier: Tier::Optimised,
            resumable: false,
            preempt: false,
            count: false,
            late_copies: false,
            confine: false,
            speculate: true,
            region_loops: true,
            facts: LaunchFacts::default(),
            processor: None,
        }
    }
}

/// How a kernel is compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// How many lanes run at once.
    pub width: Width,
    /// How much time is spent.
    pub tier: Tier,
    /// Whether a thread can go on in the middle of the kernel, as those of a warp that was deoptimized do.
    pub resumable: bool,
    /// Whether another warp may run before each access to memory that is not inserted by a tool.
    pub preempt: bool,
    /// Whether instructions are counted for each thread, and a budget is kept.
    pub count: bool,
    /// Whether copies of `cp.async` are done as late as PTX allows.
    pub late_copies: bool,
    /// Whether each access outside of the device's memory, and of the shared and local memory and parameters of its thread, ends
    /// the launch (see `lower::confinement`).
    pub confine: bool,
    /// Whether code speculates on what nearly always holds: that indices do not wrap from lane to lane where that makes addresses
    /// regular, and that accesses pass the checks of tools. A warp for which it does not hold is deoptimized.
    pub speculate: bool,
    /// Whether all warps of a block may be run from barrier to barrier by one function (see `lower::region_loops`). Then nobody can
    /// be told who waits, or choose who runs.
    pub region_loops: bool,
    /// What is known of the launch.
    pub facts: LaunchFacts,
    /// What code is for; nothing for the processor that we run on.
    pub processor: Option<Processor>,
}

/// A level of x86-64, to compile for less than the processor can do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Processor {
    /// SSE4.2.
    V2,
    /// AVX2.
    V3,
    /// AVX-512.
    V4,
}

impl Processor {
    const ALL: [Self; 3] = [Self::V2, Self::V3, Self::V4];

    /// The level of a name such as `x86-64-v3`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|processor| processor.name() == name)
    }

    /// Its name, for people and for LLVM.
    pub fn name(self) -> &'static str {
        match self {
            Self::V2 => "x86-64-v2",
            Self::V3 => "x86-64-v3",
            Self::V4 => "x86-64-v4",
        }
    }

    /// Whether the processor that we run on can run code for it.
    pub fn is_supported(self) -> bool {
        macro_rules! has {
            ($($feature:tt),*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
        }
        match self {
            Self::V2 => has!("cmpxchg16b", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"),
            Self::V3 => Self::V2.is_supported() && has!("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
            Self::V4 => Self::V3.is_supported() && has!("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
        }
    }
}
