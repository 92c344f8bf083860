//! Launches in steps.

use std::fmt::Debug;
use std::time::Duration;

use device::Order;
use report::Exit;
use rewrite::{LaunchShape, Refusal};

use crate::failure::Failure;

/// How a launch takes place: asked for one step after the other, it sees what came of each.
///
/// While a plan of several steps is under way, no other launch runs on the device, so what it saves and restores is its
/// own. What kernels print is held back until the plan is done, and so is what they free; what a run allocated that is
/// undone is freed.
pub trait Plan: Debug + Send {
    /// The next step. The first time, nothing came before it.
    fn next(&mut self, last: &Outcome) -> Step;

    /// Whether the plan goes on after a fault in the run that it asked for last, which is [told](Outcome::Faulted): it will
    /// restore what was saved, and run the kernel in another way. Else the launch ends with the fault.
    fn survives_faults(&self) -> bool {
        false
    }

    /// Whether the plan goes on if the device cannot run the launch that it asked for last, which is [told](Outcome::NotRun): a GPU has
    /// too few registers for some versions. Else the launch ends with an error.
    fn survives_refusals(&self) -> bool {
        false
    }

    /// Whether runs may be undone, and what kernels print is therefore held back. Asked before the first step.
    fn is_undone(&self) -> bool {
        true
    }
}

/// A step of a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Runs the kernel.
    Run(RunStep),
    /// Saves what the kernel may write.
    Save,
    /// Writes back what was saved: memory is as it was then.
    Restore,
    /// Runs the kernel again, from what was saved. Then memory has what one of the two runs left behind, and what is saved is
    /// what the other did. Where the text of the kernel allows it, the second run takes place in what was saved itself.
    RunFromSaved(RunStep),
    /// Compares memory with what was saved.
    Compare,
    /// Saves all objects in memory, whatever the kernel may write: what a launch does that goes wrong can be undone.
    Checkpoint,
    /// Memory as it is now, and what was printed since the last step back, are what launches are compared with.
    Reference,
    /// Memory is again as it was at the checkpoint, and what was printed, allocated and freed since is undone.
    Rewind,
    /// Runs the launch, as the other tools would have it.
    Launch(LaunchStep),
    /// Forks the process. In the child the launch goes on by itself, and then the program; the parent waits for its end.
    Fork(ForkStep),
    /// The launch is over.
    Done,
    /// The launch is over, and nothing of it counts: it ends with an error.
    Fail(Failure),
    /// The launch is over, but what the tool is for was not done, for a reason: it counts as not checked.
    Refuse(Refusal),
    /// The launch is over, and ends as the last trial did: with all that it left behind, if that [stays](LaunchStep::is_kept), or
    /// because the device was [lost](Tried::is_lost) with it.
    End,
    /// The process ends, with the device.
    Exit,
}

/// How the kernel runs in a step.
#[derive(Clone, PartialEq, Debug)]
pub struct RunStep {
    /// Which of the tool's versions; nothing for the original.
    pub version: Option<usize>,
    /// How it is launched; nothing for the shape that the version needs.
    pub shape: Option<LaunchShape>,
    /// Which blocks run, by their numbers; nothing for all.
    pub blocks: Option<Vec<u64>>,
    /// In which order.
    pub order: Order,
    /// How many workers run it at most; nothing for as many as the tool [says](crate::Instance::most_workers).
    pub workers: Option<u32>,
}

impl RunStep {
    /// All of a version, in any order.
    pub fn version(version: usize) -> Self {
        Self { version: Some(version), shape: None, blocks: None, order: Order::Free, workers: None }
    }

    /// All of the original, in the [serial order](Order::Serial).
    pub fn serial() -> Self {
        Self { version: None, order: Order::Serial, ..Self::version(0) }
    }

    /// All of the original, [one warp after the other](Order::Warps).
    pub fn by_warps() -> Self {
        Self { version: None, order: Order::Warps, ..Self::version(0) }
    }
}

/// How a launch takes place within the plan of one of several tools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchStep {
    /// Which of the tool's versions.
    pub version: usize,
    /// Whether tools that change the program do so, perhaps with plans of theirs; else it is the program's own kernel, in which
    /// only this tool has inserted something.
    pub is_changed: bool,
    /// Whether it is a trial: it is compared with the [reference](Step::Reference) and told in [`Outcome::Tried`], however it ends,
    /// and to nobody else. Else it ends the plan if it goes wrong.
    pub is_trial: bool,
    /// Whether the program's accesses stay in the memory of the device, and else end the launch.
    pub is_confined: bool,
    /// How many instructions of the program a thread may execute; they are counted, which takes time. Nothing if it
    /// cannot execute more than it should.
    pub budget: Option<u64>,
    /// How long each run of it may take. A device that cannot end a kernel is [lost](Tried::is_lost) after that.
    pub limit: Option<Duration>,
    /// Bits of a byte of memory that are inverted before it. After a trial they are as before, if nothing was written there.
    pub flipped: Option<(u64, u8)>,
    /// Whether memory stays as a trial leaves it until the next [step back](Step::Rewind), so that the launch may [end](Step::End)
    /// with that. Else it is as it was when the trial has been compared.
    pub is_kept: bool,
}

/// How the process is forked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForkStep {
    /// What the child prints, and files that it leaves behind, are kept under this name.
    pub name: String,
    /// How long it may take.
    pub limit: Duration,
}

/// What came of forking the process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Forked {
    /// This is the child. What tools find here is counted and not told, and neither are rows of tables.
    Child,
    /// This is the parent, and the child has ended.
    Ended(ChildEnd),
    /// The process cannot be forked, for a reason.
    Refused(String),
}

/// How a child of the process ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChildEnd {
    /// Nothing if it took too long.
    pub exit: Option<Exit>,
    /// How much tools found, apart from what the program itself was told.
    pub findings: u64,
    /// How many bytes the program had written to standard output and to standard error before the fork.
    pub written: [u64; 2],
}

/// What came of a trial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tried {
    /// How it ended.
    pub end: TrialEnd,
    /// How many findings tools had.
    pub findings: u64,
    /// Where memory differs from the reference: an object in words, and the offset in it. Nothing if there is no reference.
    pub difference: Option<(String, u64)>,
    /// Whether something else was printed.
    pub prints_differ: bool,
    /// How many instructions of the program its threads executed, if they are counted.
    pub instructions: u64,
    /// How long the device ran it.
    pub took: Duration,
    /// Whether the device does nothing more for this process, as a GPU after an illegal address. Memory is not compared then.
    pub is_lost: bool,
}

/// How a trial ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrialEnd {
    /// As it should.
    Done,
    /// A tool ended it.
    Stopped,
    /// It took longer than it may, or the device ended it: a thread executed too many instructions, or threads waited for each other
    /// in vain.
    Hung(String),
    /// The device ended it for another reason.
    Faulted(String),
    /// It did not begin, for a reason.
    NotRun(String),
}

/// What came of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing: there was none.
    Begins,
    /// It was done.
    Done,
    /// It was done, and kernels recorded something.
    Recorded,
    /// A fault of the device ended it, and the plan [goes on](Plan::survives_faults).
    Faulted,
    /// The device cannot run it, for a reason, and the plan [goes on](Plan::survives_refusals).
    NotRun(String),
    /// A trial has ended.
    Tried(Tried),
    /// The process was forked, or not.
    Forked(Forked),
    /// Memory differs from what was saved.
    Differs {
        /// The object, in words.
        object: String,
        /// Where in it the first byte is that differs.
        offset: u64,
        /// What is there, and what is saved of it.
        bytes: [u8; 2],
    },
}
