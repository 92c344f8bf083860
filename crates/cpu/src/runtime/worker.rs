//! One OS thread that runs the blocks of a launch: switching between the scheduler and the fibres.

use std::cell::{Cell, RefCell};

use super::fibre::switch;
use super::launch::Launch;
use super::schedule::{After, Arrival, Next, Schedule, Wait};
use super::signals::{Activity, Caught, Landing, watched};
use crate::abi::collective::Collective;
use crate::abi::context::WarpContext;
use crate::options::Width;
use device::{Fault, FaultKind};

/// Runs blocks of a launch on this OS thread, which has a number among those of the launch, until there are none left.
pub(crate) fn work(launch: &Launch<'_>, number: usize, seed: u64) -> Result<(), Fault> {
    let worker = Worker::new(launch, number, seed).map_err(|error| Fault::out_of_memory(&error))?;
    let before = CURRENT.replace((&raw const worker).cast());
    let result = worker.landing.guard(|| match launch.deadline {
        Some(deadline) => watched(deadline, || worker.run()),
        None => worker.run(),
    });
    CURRENT.set(before);
    if result.is_err() {
        launch.stop();
    }
    result
}

/// One OS thread of a launch.
///
/// Its state is shared by all fibres on their different stacks, so nobody holds a borrow of it across a switch.
#[derive(Debug)]
pub(crate) struct Worker<'l> {
    pub(crate) launch: &'l Launch<'l>,
    schedule: RefCell<Schedule<'l>>,
    /// Where the scheduler waits while a fibre runs.
    scheduler: Cell<*mut u8>,
    /// What the scheduler is to do when a fibre has led back to it.
    pending: RefCell<Option<Next>>,
    /// Where signals lead.
    pub(crate) landing: Landing,
}

impl<'l> Worker<'l> {
    fn new(launch: &'l Launch<'l>, number: usize, seed: u64) -> std::io::Result<Self> {
        Ok(Self {
            launch,
            schedule: RefCell::new(Schedule::new(launch, number, seed, fibre_main)),
            scheduler: Cell::new(std::ptr::null_mut()),
            pending: RefCell::new(None),
            landing: Landing::new(land)?,
        })
    }

    /// Runs blocks until there are none left.
    fn run(&self) -> Result<(), Fault> {
        loop {
            let pending = self.pending.take();
            let next = pending.unwrap_or_else(|| self.schedule.borrow_mut().next());
            match next {
                Next::Done => return Ok(()),
                Next::Fault(fault) => return Err(fault),
                Next::Deoptimize => match self.launch.thread_code.thread_code() {
                    Ok(code) => self.schedule.borrow_mut().deoptimize(code.stack),
                    Err(kind) => self.schedule.borrow_mut().fail(kind, 0, 0),
                },
                // SAFETY: the fibre was prepared, or gave way, and is not running; nothing is borrowed.
                Next::Run(stack) => unsafe { switch(self.scheduler.as_ptr(), stack) },
                Next::GoOn => unreachable!("no fibre runs"),
            }
        }
    }

    /// Goes on with who is next: from fibre to fibre, without a detour to the scheduler's stack.
    fn yield_now(&self) {
        let (saved, next) = self.schedule.borrow_mut().next_after_running();
        let to = match next {
            Next::GoOn => return,
            Next::Run(stack) => stack,
            other => {
                *self.pending.borrow_mut() = Some(other);
                self.scheduler.get()
            }
        };
        // SAFETY: another fibre gave way or was prepared, and the scheduler waits in `run`; the fibre that runs is boxed, so
        // `saved` stays valid; nothing is borrowed.
        unsafe { switch(saved, to) };
        // A warp of a ring comes here straight from another one's kernel.
        self.landing.is_in(Activity::Runtime);
    }

    /// What a fibre does: warps, one after another.
    fn run_warps(&self) -> ! {
        loop {
            let (context, entry) = {
                let mut schedule = self.schedule.borrow_mut();
                let context = schedule.context();
                let is_deoptimized = context.is_thread && self.launch.kernel.width == Width::Warp;
                let context: *mut WarpContext = context;
                let code = match is_deoptimized.then(|| self.launch.thread_code.thread_code()) {
                    Some(Ok(thread_code)) => thread_code,
                    _ => self.launch.code(),
                };
                schedule.code = code;
                (context, code.entry)
            };
            self.landing.during(Activity::Kernel, || {
                // SAFETY: `code` lives as long as the launch, and was compiled for such a context, which is boxed with its
                // fibre. For what the kernel accesses, the caller of `Program::launch` answers.
                unsafe { entry(context) }
            });
            // What was not waited for is done at last.
            self.do_copies(u32::MAX, None);
            let after = self.schedule.borrow_mut().finish();
            match after {
                After::Warp => {}
                // SAFETY: as in `yield_now`.
                After::Turn(saved, to) => unsafe { switch(saved, to) },
                After::Yield => self.yield_now(),
            }
        }
    }

    /// The warps of the running one's ring are over: they go on with another block, or end.
    pub(crate) fn go_on_with_ring(&self) -> bool {
        self.schedule.borrow_mut().go_on_with_ring()
    }

    /// Room for the registers of the running warp, which is about to be deoptimized.
    pub(crate) fn frame(&self, words: u64) -> *mut u64 {
        self.schedule.borrow_mut().frame(words as usize)
    }

    /// The lanes of the running warp go on as threads, and so do those of other warps that were written down with it.
    pub(crate) fn deoptimize(&self) -> ! {
        self.schedule.borrow_mut().begin_deoptimization();
        self.yield_now();
        unreachable!("a warp that was deoptimized is not gone on with")
    }

    /// A lane of the running warp issues a copy that is done later.
    pub(crate) fn copy_later(&self, lane: u32, from: u64, to: u64, bytes: u8, valid: u8) {
        let mut schedule = self.schedule.borrow_mut();
        let (copies, first_thread) = schedule.copies();
        copies.issue(first_thread + lane, from, to, bytes, valid);
    }

    /// Lanes of the running warp make groups of what they issued.
    pub(crate) fn commit_copies(&self, lanes: u32) {
        let mut schedule = self.schedule.borrow_mut();
        let (copies, first_thread) = schedule.copies();
        for lane in (0..32).filter(|lane| lanes >> lane & 1 != 0) {
            copies.commit(first_thread + lane);
        }
    }

    /// Does the copies that lanes of the running warp wait for.
    pub(crate) fn do_copies(&self, lanes: u32, pending_groups: Option<u32>) {
        let copies = self.schedule.borrow_mut().take_copies(lanes, pending_groups);
        self.landing.during(Activity::Reading, || {
            for copy in copies {
                // SAFETY: the addresses are the kernel's, for whose accesses the caller of `Program::launch` answers;
                // where nothing is mapped, the launch ends.
                unsafe { copy.run() };
            }
        });
    }

    /// The running warp waits for memory that another thread will write.
    pub(crate) fn spin(&self) {
        self.schedule.borrow_mut().spin();
        self.yield_now();
    }

    /// The running warp waits for what a warp or block will do that may not have begun.
    pub(crate) fn await_others(&self) {
        self.schedule.borrow_mut().await_others();
        self.yield_now();
    }

    /// Whether all have spun for so long that they may wait for warps that cannot run.
    pub(crate) fn is_livelocked(&self) -> bool {
        self.schedule.borrow().is_livelocked()
    }

    /// Another warp may run before the running one accesses memory.
    pub(crate) fn preempt(&self) {
        let yields = self.schedule.borrow_mut().preempt();
        if yields {
            self.yield_now();
        }
    }

    /// Lanes of the running warp arrive at a barrier: how many threads said yes, and how many came.
    pub(crate) fn arrive(&self, arrival: Arrival) -> (u32, u32) {
        let wait = self.schedule.borrow_mut().arrive(arrival);
        let answer = self.wait(wait);
        (answer as u32, (answer >> 32) as u32)
    }

    /// Lanes of the running warp arrive at the barrier of the cluster.
    pub(crate) fn arrive_at_cluster(&self, lanes: u32) {
        self.schedule.borrow_mut().arrive_at_cluster(lanes);
    }

    /// Lanes of the running warp wait for those that have still to arrive at the barrier of the cluster.
    pub(crate) fn wait_for_cluster(&self, line: u32, lanes: u32) {
        let wait = self.schedule.borrow_mut().wait_for_cluster(line, lanes);
        self.wait(wait);
    }

    /// A thread that runs on its own comes to something that lanes do together.
    pub(crate) fn meet(&self, what: Collective, line: u32, mask: Option<u32>, values: [u64; 3]) -> u64 {
        let wait = self.schedule.borrow_mut().meet(what, line, mask, values);
        self.wait(wait)
    }

    /// Tells of lanes of the running warp that are not among those that they name.
    pub(crate) fn tell_lanes_not_in_mask(&self, line: u32, lanes: u32, masks: &[u32; 32]) {
        let schedule = self.schedule.borrow();
        for lane in (0..32).filter(|lane| lanes >> lane & 1 != 0) {
            schedule.tell_lane_not_in_mask(line, lane, masks[lane as usize]);
        }
    }

    fn wait(&self, wait: Wait) -> u64 {
        match wait {
            Wait::Answer(answer) => answer,
            Wait::Yield => {
                self.yield_now();
                self.schedule.borrow().answer()
            }
        }
    }

    /// Ends the launch because of what the running warp did.
    pub(crate) fn fail(&self, kind: FaultKind, line: u32) -> ! {
        self.fail_in_lane(kind, line, 0)
    }

    /// Ends the launch because of what a thread of the running warp did.
    pub(crate) fn fail_in_lane(&self, kind: FaultKind, line: u32, lane: u32) -> ! {
        self.schedule.borrow_mut().fail(kind, line, lane);
        self.yield_now();
        unreachable!("a launch that failed is not gone on with")
    }

    /// Leaves the kernel that runs for the runtime.
    pub(crate) fn enter<T>(run: impl FnOnce(&Self) -> T) -> T {
        let worker = Self::current();
        worker.landing.during(Activity::Runtime, || run(worker))
    }

    /// The worker of this OS thread. Only called by fibres.
    fn current<'a>() -> &'a Self {
        let worker = CURRENT.with(Cell::get);
        assert!(!worker.is_null(), "only fibres ask for their worker");
        // SAFETY: `work` sets it while its worker is alive, and fibres only run meanwhile, on the same thread.
        unsafe { &*worker.cast::<Self>() }
    }
}

/// Where a fibre starts.
extern "C" fn fibre_main() -> ! {
    Worker::current().run_warps()
}

/// Where a worker goes on after a fault of its kernel.
extern "C" fn land() -> ! {
    let worker = Worker::current();
    let kind = match worker.landing.take_caught() {
        Caught::Watchdog => FaultKind::Timeout { waiters: worker.schedule.borrow().waiters() },
        Caught::Fault { address } if worker.schedule.borrow().is_stack_overflow(address) => FaultKind::StackOverflow,
        Caught::Fault { address } => FaultKind::IllegalAddress { address: address as u64 },
    };
    worker.fail(kind, 0)
}

thread_local! {
    /// The worker of this OS thread.
    static CURRENT: Cell<*const Worker<'static>> = const { Cell::new(std::ptr::null()) };
}
