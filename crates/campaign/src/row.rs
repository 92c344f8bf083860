//! A row: a trial in a variant, and what came of it. It says nothing of who ran it, when, or how often.

/// A row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Row {
    /// Its number in the campaign.
    pub row: u64,
    /// The kernel as the PTX names it.
    pub kernel: String,
    /// What went wrong.
    pub model: String,
    /// What protected the kernel.
    pub variant: String,
    /// The number of the trial.
    pub trial: u64,
    /// Which launch of the program, from 1 on.
    pub launch: u64,
    /// The thread that was to be struck, counted through the launch, and which of its places.
    pub thread: u64,
    /// Which of the thread's places.
    pub place: u64,
    /// Block and thread, as people read it.
    pub thread_name: String,
    /// The source file, and the line.
    pub file: String,
    /// Its line; 0 if it is not known.
    pub line: u64,
    /// The line of the PTX; 0 if it is not known.
    pub ptx_line: u64,
    /// The instruction as printed.
    pub instruction: String,
    /// The bit, and the value before and after; nothing if nothing was struck.
    pub bit: Option<u32>,
    /// The value before.
    pub before: u64,
    /// The value after.
    pub after: u64,
    /// What came of it in the kernel as it is.
    pub unprotected: String,
    /// What came of it in the variant.
    pub outcome: String,
    /// More of that.
    pub note: String,
}
