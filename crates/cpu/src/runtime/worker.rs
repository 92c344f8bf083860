//! One OS thread that runs the blocks of a launch: switching between the scheduler and the fibres.

use std::cell::{Cell, RefCell};

use super::collective::Collective;
use super::context::WarpContext;
use super::fibre::switch;
use super::launch::{Fault, FaultKind, Launch};
use super::schedule::{Arrival, Next, Schedule, Wait};

/// One OS thread of a launch.
///
/// Its state is shared by all fibres on their different stacks, so nobody holds a borrow of it across a switch.
#[derive(Debug)]
pub(crate) struct Worker<'l> {
    pub(crate) launch: &'l Launch<'l>,
    schedule: RefCell<Schedule<'l>>,
    /// Where the scheduler waits while a fibre runs.
    scheduler: Cell<*mut u8>,
}

impl<'l> Worker<'l> {
    pub(crate) fn new(launch: &'l Launch<'l>, seed: u64) -> Self {
        Self {
            launch,
            schedule: RefCell::new(Schedule::new(launch, seed)),
            scheduler: Cell::new(std::ptr::null_mut()),
        }
    }

    /// Runs blocks until there are none left.
    pub(crate) fn run(&self) -> Result<(), Fault> {
        loop {
            let next = self.schedule.borrow_mut().next();
            match next {
                Next::Done => return Ok(()),
                Next::Fault(fault) => return Err(fault),
                // SAFETY: the fibre was prepared, or gave way, and is not running; nothing is borrowed.
                Next::Run(stack) => unsafe { switch(self.scheduler.as_ptr(), stack) },
            }
        }
    }

    /// Lets the scheduler choose who goes on.
    fn give_way(&self) {
        let saved = self.schedule.borrow_mut().saved();
        // SAFETY: the scheduler waits in `run`; the fibre is boxed, so `saved` stays valid; nothing is borrowed.
        unsafe { switch(saved, self.scheduler.get()) };
    }

    /// What a fibre does: warps, one after another.
    fn run_warps(&self) -> ! {
        loop {
            let context: *mut WarpContext = self.schedule.borrow_mut().context();
            // SAFETY: the code was compiled for such a context, which is boxed with its fibre.
            unsafe { self.launch.kernel.code.entry()(context) };
            let goes_on = self.schedule.borrow_mut().finish();
            if !goes_on {
                self.give_way();
            }
        }
    }

    /// The running warp waits for memory that another thread will write.
    pub(crate) fn spin(&self) {
        self.schedule.borrow_mut().spin();
        self.give_way();
    }

    /// Lanes of the running warp arrive at a barrier: how many threads said yes, and how many came.
    pub(crate) fn arrive(&self, arrival: Arrival) -> (u32, u32) {
        let wait = self.schedule.borrow_mut().arrive(arrival);
        let answer = self.wait(wait);
        (answer as u32, (answer >> 32) as u32)
    }

    /// A thread that runs on its own comes to something that lanes do together.
    pub(crate) fn meet(&self, what: Collective, site: u32, members: u32, values: [u64; 3]) -> u64 {
        let wait = self.schedule.borrow_mut().meet(what, site, members, values);
        self.wait(wait)
    }

    fn wait(&self, wait: Wait) -> u64 {
        match wait {
            Wait::Answer(answer) => answer,
            Wait::GiveWay => {
                self.give_way();
                self.schedule.borrow().answer()
            }
        }
    }

    /// Ends the launch because of what the running warp did.
    pub(crate) fn fail(&self, kind: FaultKind, site: u32) -> ! {
        self.schedule.borrow_mut().fail(kind, site);
        self.give_way();
        unreachable!("a launch that failed is not gone on with")
    }

    /// The worker of this OS thread. Only called by fibres.
    pub(crate) fn current<'a>() -> &'a Self {
        let worker = CURRENT.with(Cell::get);
        assert!(!worker.is_null(), "only fibres ask for their worker");
        // SAFETY: `Launch::work` sets it while its worker is alive, and fibres only run meanwhile, on the same thread.
        unsafe { &*worker.cast::<Self>() }
    }
}

/// Where a fibre starts.
pub(super) extern "C" fn fibre_main() -> ! {
    Worker::current().run_warps()
}

thread_local! {
    /// The worker of this OS thread.
    pub(super) static CURRENT: Cell<*const Worker<'static>> = const { Cell::new(std::ptr::null()) };
}
