//! A tool at work in a process.

use std::fmt::Debug;

use report::Finding;
use rewrite::context::Record;
use rewrite::{KernelVersion, Refusal, Site};

use crate::event::HostEvent;
use crate::failure::Failure;
use crate::launch::{EndedLaunch, Evidence, LaunchView, SiteCount, Words};
use crate::objects::{Moment, Object};
use crate::plan::Plan;
use crate::stack::HostStack;

/// A tool at work in a process. It has state; what it is told comes from several threads. Everything does nothing unless
/// a tool says otherwise.
pub trait Instance: Debug + Send + Sync {
    /// Bytes after each allocation that no object has.
    fn redzone(&self) -> u64 {
        0
    }

    /// Whether accesses of kernels to memory that the host has for itself are wrong for it. Then the device says that it has
    /// no access to such memory, so that programs that ask do not try.
    fn forbids_host_memory(&self) -> bool {
        false
    }

    /// Whether it wants to know where the program allocates, frees and launches: that takes time.
    fn wants_stacks(&self) -> bool {
        false
    }

    /// Whether it wants to know which functions of CUDA the program calls: that takes time.
    fn wants_calls(&self) -> bool {
        false
    }

    /// Whether it wants to know which launches come before which: that takes time.
    fn wants_order(&self) -> bool {
        false
    }

    /// The same, only from the first allocation in a stream on.
    fn wants_order_of_stream_memory(&self) -> bool {
        false
    }

    /// Whether the program's own code is to be kept out of device memory, where the processor can do that.
    fn keeps_host_out(&self) -> bool {
        false
    }

    /// The program did something.
    fn on_event(&self, _event: &HostEvent<'_>) {}

    /// The program gave memory back, or a kernel did at a time. Whether the device may have it now: else the tool keeps it
    /// for a while, and gives it back itself.
    fn on_free(&self, _object: &Object, _stack: &HostStack, _when: Option<Moment>) -> bool {
        true
    }

    /// Gives memory back that was kept, because there is no other; whether there was any.
    fn make_room(&self) -> bool {
        false
    }

    /// Bytes of the device that the program does not know to be in use.
    fn hidden_bytes(&self) -> u64 {
        0
    }

    /// A launch begins, of a kernel that was rewritten or not.
    fn on_launch(&self, _launch: &LaunchView<'_>) {}

    /// Whether it may choose a version: others are not made.
    fn wants_version(&self, _version: usize) -> bool {
        true
    }

    /// Which of its versions of the kernel a launch runs, by its number.
    fn choose(&self, _launch: &LaunchView<'_>) -> Result<usize, Refusal> {
        Ok(0)
    }

    /// How many workers of the device may run the blocks of a launch at the same time, in one of its versions or as the program
    /// has it; any number if nothing is said.
    fn most_workers(&self, _launch: &LaunchView<'_>, _version: Option<usize>) -> Option<u32> {
        None
    }

    /// Sets its words of the context of a launch.
    fn words(&self, _launch: &LaunchView<'_>, _version: &KernelVersion, _words: &mut Words<'_>) {}

    /// Takes a launch into its hands: it runs in the steps of the plan. Only a tool that changes the program does.
    fn plan(&self, _launch: &LaunchView<'_>) -> Option<Box<dyn Plan>> {
        None
    }

    /// Whether launches run on the thread of the program that asks for them, which waits: at such a launch the process can be
    /// [forked](crate::Step::Fork).
    fn runs_on_caller(&self) -> bool {
        false
    }

    /// Records of a site that mean different things have different numbers.
    fn variant(&self, _record: &Record) -> u64 {
        0
    }

    /// What a record of a kernel means. Asked for the first record of a site with a variant.
    fn record(&self, _record: &Record, _evidence: &Evidence<'_>) -> Option<Finding> {
        None
    }

    /// What a launch ends with of which this is the first record, if findings end launches; nothing if the program goes on.
    fn failure(&self, _record: &Record) -> Option<Failure> {
        None
    }

    /// Whether code of the tool has ended a launch, by `trap`. Then the fault is nobody's mistake.
    fn has_stopped(&self, _launch: &LaunchView<'_>) -> bool {
        false
    }

    /// A run of a launch has ended, for which the words of the context were set.
    fn on_end(&self, _launch: &EndedLaunch<'_>) {}

    /// Whether [`Instance::on_counts`] is told of a site at which nothing was counted.
    fn wants_zero(&self, _site: &Site) -> bool {
        false
    }

    /// What was counted at the sites of the tool, of a module whose kernels are not launched any more. Sites at which nothing
    /// was counted are left out, unless they are wanted.
    fn on_counts(&self, _counts: &[SiteCount<'_>]) {}

    /// The process ends: the last findings, and the rows of tables.
    fn finish(&self) {}
}
