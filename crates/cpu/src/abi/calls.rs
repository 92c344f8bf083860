//! The functions of the runtime that compiled code calls, and numbers that it passes.

/// Makes the functions and their names of one list.
macro_rules! runtime_functions {
    ($($(#[$doc:meta])* $function:ident = $symbol:literal,)*) => {
        /// A function of the runtime that compiled code calls.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum RuntimeFunction {
            $($(#[$doc])* $function,)*
        }

        impl RuntimeFunction {
            pub(crate) const ALL: &[Self] = &[$(Self::$function),*];

            /// The name by which object files know it.
            pub(crate) fn symbol(self) -> &'static str {
                match self {
                    $(Self::$function => $symbol,)*
                }
            }
        }
    };
}

runtime_functions! {
    Barrier = "wg_barrier",
    /// Barrier 0, for all threads of the block.
    Synchronise = "wg_synchronise",
    /// A warp has come to its end.
    Over = "wg_over",
    Collective = "wg_collective",
    LanesNotInMask = "wg_lanes_not_in_mask",
    Cycles = "wg_cycles",
    Nanoseconds = "wg_nanoseconds",
    Trap = "wg_trap",
    Misaligned = "wg_misaligned",
    IllegalAddress = "wg_illegal_address",
    BadTarget = "wg_bad_target",
    Undefined = "wg_undefined",
    /// Room for the registers of a warp that is about to be deoptimized.
    Frame = "wg_frame",
    Stuck = "wg_stuck",
    Deoptimize = "wg_deoptimize",
    Misspeculated = "wg_misspeculated",
    HostCall = "wg_host_call",
    Preempt = "wg_preempt",
    OverBudget = "wg_over_budget",
    Spin = "wg_spin",
    SpinInRegion = "wg_spin_in_region",
    Await = "wg_await",
    CopyLater = "wg_copy_later",
    CommitCopies = "wg_commit_copies",
    WaitForCopies = "wg_wait_for_copies",
    CopyMasked = "wg_copy_masked",
    Matrix = "wg_matrix",
    MatrixOfThread = "wg_matrix_apart",
    Mbarrier = "wg_mbarrier",
    ClusterArrive = "wg_cluster_arrive",
    ClusterWait = "wg_cluster_wait",
    StackOverflow = "wg_stack_overflow",
    Texture = "wg_texture",
    TextureOfThread = "wg_texture_apart",
    /// Those of C, which LLVM calls by itself, too.
    Memset = "memset",
    Memcpy = "memcpy",
    Memmove = "memmove",
}

/// A number for what is asked for, in the high bits, and a line of the PTX, in the low ones.
pub(crate) fn with_line(what: u32, line: u32) -> u32 {
    what << 24 | line
}

/// What is asked for, and the line of the PTX.
pub(crate) fn split_line(what: u32) -> (u32, u32) {
    (what >> 24, what & 0xff_ffff)
}

/// A function that the device provides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum HostFunction {
    Printf,
    AssertFail,
    Malloc,
    Free,
}

/// What a kernel must not do, and what processors do not notice by themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Undefined {
    /// An indexed branch past the end of its table.
    BranchIndex,
}

impl HostFunction {
    const ALL: [Self; 4] = [Self::Printf, Self::AssertFail, Self::Malloc, Self::Free];

    /// The function that compiled code names by its number.
    pub(crate) fn of(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "vprintf" => Self::Printf,
            "__assertfail" => Self::AssertFail,
            "malloc" => Self::Malloc,
            "free" => Self::Free,
            _ => return None,
        })
    }
}
