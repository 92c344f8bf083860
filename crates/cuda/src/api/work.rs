//! Work that streams do.
//!
//! Work is data: a launch, copy or fill is checked and its parameters are taken when it is asked for, so what is put in
//! a queue can be kept in a graph and repeated.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use toolkit::{HostStack, WorkOrder};

use super::allocation;
use super::in_use;
use super::launch::Launch;
use crate::driver;
use crate::error::CudaError;
use crate::operation::Operation;
use crate::order;
use crate::process::device_access;
use crate::queue::Job;
use crate::tooling;
use crate::transfer::{Copy, Fill};

/// Something that a stream does. It is data, so that graphs can keep it and repeat it.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Runs a kernel.
    Launch(Arc<Launch>),
    /// Copies memory.
    Copy(Copy),
    /// Fills memory.
    Fill(Fill),
    /// Calls a function of the program.
    Call(HostCall),
    /// Waits for words of memory and writes them, one after another.
    Operate(Arc<[Operation]>),
    /// Notes the time.
    Record(Arc<OnceLock<Instant>>),
    /// Gives memory back, as the program asked for it somewhere.
    Free(u64, HostStack),
    /// Only keeps its place.
    Nothing,
}

/// A function of the program, with what it is called with.
#[derive(Clone)]
pub(crate) struct HostCall {
    call: Arc<dyn Fn() + Send + Sync>,
    /// The addresses of the function and of what it is called with, for programs that ask for them.
    pub(crate) function: usize,
    pub(crate) data: usize,
}

impl std::fmt::Debug for HostCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostCall")
    }
}

impl HostCall {
    pub(crate) fn new(function: usize, data: usize, call: impl Fn() + Send + Sync + 'static) -> Self {
        Self { call: Arc::new(call), function, data }
    }

    pub(crate) fn run(&self) {
        let _restore = device_access::forbid();
        (self.call)();
    }
}

impl Job for Work {
    fn run(&self, order: Option<&WorkOrder>, may_run_on: bool) -> bool {
        or_fail(|| self.perform(order, may_run_on))
    }

    fn may_follow(&self) -> bool {
        matches!(self, Self::Launch(launch) if launch.may_run_on())
    }

    fn wait(jobs: &[&Self]) {
        let launches = jobs.iter().filter_map(|job| match job {
            Self::Launch(launch) => Some(&**launch),
            _ => None,
        });
        or_fail(|| Launch::wait(&launches.collect::<Vec<_>>()));
    }
}

/// Those who wait for work wait for its end, whatever goes wrong.
fn or_fail<T: Default>(run: impl FnOnce() -> T) -> T {
    std::panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        crate::refusal::refuse(
            "work in a stream failed by a bug of Warpgrind's own (the message is above): please report it, with the program if you can",
        );
        driver::fail(CudaError::UNKNOWN);
        // It may have begun something before.
        let _ = driver::get().map(|driver| driver.device.wait());
        T::default()
    })
}

/// Accesses memory, if it is still there: another thread may have freed it since the work was asked for.
fn access<T>(ranges: &[(u64, Option<u64>)], run: impl FnOnce() -> T) -> Option<T> {
    let _kept = in_use::keep_memory();
    let is_there = |&(address, bytes): &(u64, Option<u64>)| bytes.is_some_and(|n| allocation::is_there(address, n));
    if ranges.iter().all(is_there) {
        return Some(run());
    }
    driver::fail(CudaError::ILLEGAL_ADDRESS);
    None
}

/// Writes a word, or waits for it until a fault ends all work.
fn operate(operation: &Operation, order: Option<&WorkOrder>) {
    let (address, bytes) = operation.range();
    let mut looks = 0_u32;
    while access(&[(address, Some(bytes))], || operation.try_run()) == Some(false) && driver::fault().is_none() {
        // Mostly it comes soon; if not, others need the processor more.
        looks = looks.saturating_add(1);
        std::thread::sleep(Duration::from_micros(looks.min(500).into()));
    }
    if let (Some(tool_host), true) = (tooling::get(), operation.is_write()) {
        tool_host.on_written(address, bytes, order);
    }
}

impl Work {
    /// Whether it runs on.
    fn perform(&self, order: Option<&WorkOrder>, may_run_on: bool) -> bool {
        // After a fault nothing runs any more, except that those who wait get their answer.
        let is_well = driver::fault().is_none();
        match self {
            Self::Launch(launch) if is_well => return launch.run(order, may_run_on),
            Self::Copy(copy) if is_well && !copy.extent().is_empty() => {
                let ranges = [copy.from(), copy.to()].map(|side| (side.address, side.span(copy.extent())));
                access(&ranges, || {
                    if let Err(error) = copy.run() {
                        return driver::fail(error);
                    }
                    if let Some(tool_host) = tooling::get() {
                        tool_host.on_copied(copy, order);
                    }
                });
            }
            Self::Fill(fill) if is_well && !fill.extent().is_empty() => {
                access(&[(fill.to().address, fill.to().span(fill.extent()))], || {
                    if let Err(error) = fill.run() {
                        return driver::fail(error);
                    }
                    if let Some(tool_host) = tooling::get() {
                        tool_host.on_filled(fill, order);
                    }
                });
            }
            Self::Operate(operations) => operations.iter().for_each(|operation| operate(operation, order)),
            Self::Call(call) => {
                if let Some(order) = order {
                    order::on_host_function(order);
                }
                call.run();
            }
            Self::Record(time) => {
                let _ = time.set(Instant::now());
            }
            Self::Free(address, stack) => {
                // It was there when the program asked for it; a second time is the program's bug.
                let _ = allocation::free_from(*address, stack);
            }
            Self::Launch(_) | Self::Copy(_) | Self::Fill(_) | Self::Nothing => {}
        }
        false
    }
}
