//! A launch: what is asked for, how it is run, and what it leaves.

/// A kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Its name.
    pub kernel: &'a str,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory besides those that are declared.
    pub dynamic_shared: u32,
    /// The parameters, laid out as the kernel declares them.
    pub params: &'a [u8],
}

/// What a launch that ended well leaves, besides memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Instructions executed, over all threads.
    pub instructions: u64,
    /// What `printf` wrote.
    pub output: String,
}

/// How kernels are run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Decides everything that is random; the same seed gives the same run.
    pub seed: u64,
    /// Who runs when.
    pub schedule: Schedule,
    /// A launch that executes more instructions, over all threads, ends with an error.
    pub instruction_budget: u64,
    /// Blocks are started together until they have so many threads; at least one is.
    pub resident_threads: u32,
    /// Local memory of a thread, in bytes.
    pub local_bytes: u32,
    /// How many functions may have been called and not returned.
    pub call_depth: u32,
    /// What `malloc` gives away in one launch, in bytes.
    pub heap_bytes: u64,
    /// Whether every load, store and atomic operation is listed: see `Machine::take_accesses`.
    pub lists_accesses: bool,
}

/// Who runs when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// Threads take turns; each runs until it waits, ends, or has executed its share of instructions.
    UntilBlocked {
        /// Instructions in a turn.
        share: u32,
    },
    /// After a random number of instructions a random thread goes on.
    Random {
        /// The largest number of instructions in a turn; 1 may change threads after every instruction.
        longest: u32,
    },
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 0,
            schedule: Schedule::UntilBlocked { share: 256 },
            instruction_budget: 200_000_000,
            resident_threads: 16 * 1024,
            local_bytes: 512 * 1024,
            call_depth: 1024,
            heap_bytes: 8 << 20,
            lists_accesses: false,
        }
    }
}
