//! The blocks and warps of one OS thread: which are resident, who waits for what, and who runs next.
//!
//! A fibre runs one warp after another. It only gives way where its warp has to wait, and then another fibre goes on or
//! starts the next warp. A kernel without barriers so runs on one fibre without a switch, and nothing had to be found
//! out about it before.

mod barrier_ring;
mod pct;
mod random;
mod resident;

use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;

use self::pct::{Priorities, Priority};
use self::random::Random;
use self::resident::{DeoptimizedWarp, Rendezvous, Resident, lanes_of};
use super::barrier::{BARRIERS, CLUSTER};
use super::code::KernelCode;
use super::collective::Arrivals;
use super::copies::{self, Copies};
use super::fibre::Stack;
use super::launch::Launch;
use crate::abi::collective::Collective;
use crate::abi::context::WarpContext;
use crate::options::Width;
use crate::schedule::Schedule as Policy;
use device::{Fault, FaultKind, LaneNotInMask, Waiter};

/// The state of one OS thread of a launch. Nothing here switches stacks.
#[derive(Debug)]
pub(crate) struct Schedule<'l> {
    launch: &'l Launch<'l>,
    /// The number of the OS thread.
    worker: usize,
    /// Its number among those of the launch, which kernels see.
    number_in_launch: u32,
    /// Where fibres start.
    fibre_main: extern "C" fn() -> !,
    /// Boxed, because compiled code holds on to contexts, and a switch to stack pointers.
    #[allow(clippy::vec_box, reason = "a fibre must not move when another one is added")]
    fibres: Vec<Box<Fibre>>,
    idle: Vec<usize>,
    /// Idle fibres with stacks for single threads of a warp that was deoptimized.
    idle_threads: Vec<usize>,
    ready: VecDeque<usize>,
    residents: Vec<Option<Box<Resident>>>,
    /// The memory of a block that is over.
    spare: Option<Box<Resident>>,
    /// Blocks that are resident.
    resident_count: usize,
    /// The code of the warp that began last.
    pub(super) code: *const KernelCode,
    /// Blocks that were taken and have not begun.
    returned: Vec<Range<u64>>,
    /// The resident block whose warps are being started.
    starting: Option<usize>,
    /// The warp that runs. Boxed, because warps that take turns write it themselves.
    current: Box<Cell<*mut WarpContext>>,
    /// How often warps gave way in a spin since one of them came to an end or a barrier.
    spins: u64,
    /// The same since one of them came to an end, or a block began: a block that looks at memory again and again may have a
    /// barrier in each round.
    rounds: u64,
    /// Whether the only warp that is ready waits for one that has not begun.
    awaits_start: bool,
    /// Whether the running warp is to be deoptimized.
    is_deoptimized: bool,
    fault: Option<Fault>,
    random: Random,
    /// If the schedule is one of priorities.
    priorities: Option<Priorities>,
    /// How many were ready when the running warp was chosen.
    ready_before: usize,
}

#[derive(Debug)]
struct Fibre {
    stack: Stack,
    context: WarpContext,
    state: State,
    /// What it is told when it goes on.
    answer: u64,
    /// How often it gave way in a spin since it came to something else.
    spins: u64,
    /// When it goes on, in a schedule of priorities.
    priority: Priority,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    /// Runs, or is ready to.
    Ready,
    Barrier {
        id: u32,
        line: u32,
    },
    Collective {
        line: u32,
    },
}

/// What a worker does next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Goes on with a saved stack.
    Run(*mut u8),
    /// The fibre that gives way goes on itself.
    GoOn,
    /// Deoptimizes the warp that ran last.
    Deoptimize,
    /// There is nothing left to do.
    Done,
    /// The launch failed.
    Fault(Fault),
}

/// What a fibre does when its warp has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum After {
    /// It has another warp.
    Warp,
    /// It is saved in one place, and another one, saved elsewhere, has its turn.
    Turn(*mut *mut u8, *mut u8),
    /// It gives way.
    Yield,
}

/// What a warp does that came to a rendezvous place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// It goes on with an answer.
    Answer(u64),
    /// It gives way.
    Yield,
}

/// Lanes that come to a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) waits: bool,
    pub(crate) line: u32,
    pub(crate) id: u32,
    /// How many threads complete the barrier; 0 for all of the block.
    pub(crate) count: u32,
    pub(crate) lanes: u32,
    /// Those of the lanes that say yes.
    pub(crate) yes: u32,
}

/// How many warps have begun, at most, to be chosen from by their priorities; those of the last block may be more.
const MOST_BY_PRIORITY: usize = 64;
/// After so many spins without progress, another block is started if there is room.
const SPIN_LIMIT: u64 = 64;
/// The same if there are barriers between them: each of these is a round of a whole loop.
const ROUND_LIMIT: u64 = 8;
/// Of more warps that are ready, each need not spin so often: the start of a grid would take time that grows as its square.
const MANY_READY: usize = 128;
/// Of blocks with more threads than this, on all OS threads, no more begin before all that have begun have spun that often,
/// however many they are: each thread may come to need a stack of its own, and a process cannot have many more.
const CROWD: usize = 24 << 10;
/// After so many, warps are taken to wait for others that cannot run before they go on.
const HOPELESS: u64 = 4096;
/// After so many spins, a thread is taken to wait for another of its warp.
const SPINS: u64 = 32;

impl Drop for Schedule<'_> {
    fn drop(&mut self) {
        for resident in self.residents.iter().flatten().chain(&self.spare) {
            self.launch.shared.give_back(resident.slot);
        }
    }
}

impl<'l> Schedule<'l> {
    pub(crate) fn new(launch: &'l Launch<'l>, worker: usize, seed: u64, fibre_main: extern "C" fn() -> !) -> Self {
        Self {
            launch,
            worker,
            number_in_launch: launch.begin_worker(),
            fibre_main,
            fibres: Vec::new(),
            idle: Vec::new(),
            idle_threads: Vec::new(),
            ready: VecDeque::new(),
            residents: Vec::new(),
            spare: None,
            resident_count: 0,
            returned: Vec::new(),
            code: std::ptr::null(),
            starting: None,
            current: Box::new(Cell::new(std::ptr::null_mut())),
            spins: 0,
            rounds: 0,
            awaits_start: false,
            is_deoptimized: false,
            fault: None,
            priorities: (launch.schedule == Policy::Pct).then(|| Priorities::new(seed, launch.units())),
            ready_before: 0,
            random: Random::new(seed),
        }
    }

    /// What to do next, once all fibres have given way.
    pub(crate) fn next(&mut self) -> Next {
        if let Some(fault) = self.fault.take() {
            return Next::Fault(fault);
        }
        if self.launch.is_stopped() {
            return Next::Done;
        }
        if std::mem::take(&mut self.is_deoptimized) {
            return Next::Deoptimize;
        }
        match self.next_fibre() {
            Some(fibre) => {
                let context = &raw mut self.fibres[fibre].context;
                self.current.set(context);
                Next::Run(self.fibres[fibre].context.saved)
            }
            None if self.resident_count == 0 => Next::Done,
            None if self.release_mixed() => self.next(),
            None => Next::Fault(self.deadlock()),
        }
    }

    /// Where the stack pointer of the running fibre, which gives way, is saved; and what to do next.
    pub(crate) fn next_after_running(&mut self) -> (*mut *mut u8, Next) {
        let before = self.running();
        let saved = &raw mut self.fibres[before].context.saved;
        let next = match self.next() {
            // What was saved of it is not where it stands.
            Next::Run(_) if self.running() == before => Next::GoOn,
            other => other,
        };
        (saved, next)
    }

    /// The fibre to go on with: one that is ready, or one for the next warp.
    fn next_fibre(&mut self) -> Option<usize> {
        if self.priorities.is_some() {
            return self.next_by_priority();
        }
        let is_random = self.launch.schedule == Policy::Random;
        // Who spins, or sleeps, may wait for a warp of its block that has not begun.
        let first_spins = self.ready.front().is_some_and(|&fibre| self.fibres[fibre].spins > 0);
        let awaits_start = std::mem::take(&mut self.awaits_start);
        let prefers_start = match is_random {
            true => self.coin(),
            false => self.ready.is_empty() || awaits_start || self.all_spin() || first_spins && self.starting.is_some(),
        };
        if prefers_start && let Some(fibre) = self.start_next() {
            return Some(fibre);
        }
        let ready = if is_random && !self.ready.is_empty() {
            let place = self.random.below(self.ready.len() as u64) as usize;
            self.ready.remove(place)
        } else {
            self.ready.pop_front()
        };
        ready.or_else(|| self.start_next())
    }

    /// Whether all have spun for so long that they may wait for a block that has not begun.
    fn all_spin(&self) -> bool {
        self.all_spin_among(MANY_READY)
    }

    /// The same, where of more than so many that are ready each need not spin so often.
    fn all_spin_among(&self, many: usize) -> bool {
        let ready = 1 + self.ready.len().min(many) as u64;
        self.spins > SPIN_LIMIT * ready || self.rounds > ROUND_LIMIT * ready
    }

    /// Whether blocks have begun whose threads might not all find a stack.
    fn is_crowded(&self) -> bool {
        let threads = self.resident_count * self.launch.threads_per_block() as usize;
        threads * self.launch.workers as usize > CROWD
    }

    /// Whether all have spun for so long that they may wait for warps that cannot run.
    pub(crate) fn is_livelocked(&self) -> bool {
        self.spins > HOPELESS * (1 + self.ready.len() as u64)
    }

    /// The fibre with the highest priority, once as many warps have begun as can be chosen from.
    fn next_by_priority(&mut self) -> Option<usize> {
        loop {
            let in_all = self.fibres.len() - self.idle.len() - self.idle_threads.len();
            let may_start = self.starting.is_some() || in_all < MOST_BY_PRIORITY || self.all_spin();
            let Some(fibre) = may_start.then(|| self.start_next()).flatten() else { break };
            self.ready.push_back(fibre);
        }
        let place = (0..self.ready.len()).max_by_key(|&place| self.fibres[self.ready[place]].priority)?;
        let fibre = self.ready.remove(place);
        self.ready_before = self.ready.len();
        fibre
    }

    /// The running warp makes a step in a schedule of priorities. Whether another one has a higher priority then.
    fn is_overtaken(&mut self) -> bool {
        let running = self.running();
        let Some(priorities) = &mut self.priorities else { return false };
        if priorities.is_change_point() {
            self.fibres[running].priority = priorities.fall();
        } else if self.ready.len() == self.ready_before {
            // Those that are ready were when it was chosen.
            return false;
        }
        self.ready_before = self.ready.len();
        let priority = self.fibres[running].priority;
        self.ready.iter().any(|&fibre| self.fibres[fibre].priority > priority)
    }

    fn coin(&mut self) -> bool {
        self.random.below(2) == 0
    }

    /// A fibre for the next warp, of a block that is resident or of the next one.
    fn start_next(&mut self) -> Option<usize> {
        let resident = match self.starting {
            Some(resident) => resident,
            None => {
                let resident = self.start_block()?;
                (self.spins, self.rounds) = (0, 0);
                resident
            }
        };
        let is_new = self.residents[resident].as_ref().is_some_and(|resident| resident.next_unit == 0);
        if is_new && self.takes_turns() {
            return self.start_ring(resident);
        }
        let fibre = self.idle_fibre()?;
        self.begin(fibre, resident);
        Some(fibre)
    }

    /// A fibre that has no warp.
    fn idle_fibre(&mut self) -> Option<usize> {
        match self.idle.pop() {
            Some(fibre) => Some(fibre),
            None => self.new_fibre(self.launch.kernel.stack),
        }
    }

    fn start_block(&mut self) -> Option<usize> {
        let must_not = if self.resident_count == 0 && self.returned.is_empty() {
            self.launch.should_leave_off()
        } else {
            self.resident_count >= self.launch.residency
                || self.is_crowded() && !self.ready.is_empty() && !self.all_spin_among(usize::MAX)
        };
        if must_not {
            return None;
        }
        let blocks = self.take_blocks()?;
        let place = self.residents.iter().position(Option::is_none).unwrap_or_else(|| {
            self.residents.push(None);
            self.residents.len() - 1
        });
        let mut resident = self.spare.take().unwrap_or_else(|| Box::new(Resident::new(self.launch)));
        resident.start(self.launch, self.launch.block_of(blocks.start), (blocks.end - blocks.start - 1) as u32);
        self.residents[place] = Some(resident);
        self.resident_count += 1;
        self.starting = Some(place);
        Some(place)
    }

    /// The next blocks that one call of the kernel runs. To ask for them one by one would keep the threads of the system from
    /// their work, where blocks are small.
    fn take_blocks(&mut self) -> Option<Range<u64>> {
        let blocks = self.returned.pop().or_else(|| self.launch.take_blocks(self.worker))?;
        if self.launch.loops_over_blocks {
            return Some(blocks);
        }
        let next = blocks.start + 1;
        if next < blocks.end {
            self.returned.push(next..blocks.end);
        }
        Some(blocks.start..next)
    }

    fn new_fibre(&mut self, stack: usize) -> Option<usize> {
        let stack = match Stack::new(stack) {
            Ok(stack) => stack,
            Err(error) => {
                self.fault = Some(Fault::out_of_memory(&error));
                return None;
            }
        };
        let context = WarpContext {
            saved: stack.prepare(self.fibre_main),
            current: &raw const *self.current,
            fibre: self.fibres.len(),
            worker: self.number_in_launch,
            ..self.launch.new_context()
        };
        self.fibres.push(Box::new(Fibre {
            stack,
            context,
            state: State::Idle,
            answer: 0,
            spins: 0,
            priority: Priority::default(),
        }));
        Some(self.fibres.len() - 1)
    }

    /// Gives a fibre the next warp of a block.
    fn begin(&mut self, fibre: usize, place: usize) {
        let launch = self.launch;
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let unit = resident.next_unit;
        let loops_over_warps = launch.kernel.loops_over_warps && launch.schedule.is_in_order();
        resident.next_unit = if loops_over_warps { resident.units } else { unit + 1 };
        resident.running += 1;
        if resident.next_unit == resident.units {
            self.starting = None;
        }
        let threads = launch.threads_per_block();
        let per_unit = launch.kernel.width.lanes();
        let first_thread = unit * per_unit;
        let lanes = match launch.kernel.width {
            Width::Thread => 1,
            Width::Warp => lanes_of(threads, unit),
        };
        let context = &mut self.fibres[fibre].context;
        context.shared = launch.shared.address(resident.slot);
        context.local = resident.local(first_thread, launch.kernel.local);
        context.counts = resident.counts();
        context.block = resident.block;
        context.first_thread = first_thread;
        context.lanes = lanes;
        context.last_lanes = lanes_of(threads, threads.div_ceil(32) - 1);
        context.left = resident.next_unit - unit - 1;
        context.left_of_block = resident.units - 1;
        context.blocks_left = std::mem::take(&mut resident.blocks_behind);
        context.resident = place;
        context.resume = 0;
        context.is_thread = launch.kernel.width == Width::Thread;
        self.make_ready(fibre);
    }

    /// A fibre begins.
    fn make_ready(&mut self, fibre: usize) {
        let priority = self.priorities.as_mut().map(Priorities::begin).unwrap_or_default();
        let fibre = &mut self.fibres[fibre];
        (fibre.state, fibre.spins, fibre.priority) = (State::Ready, 0, priority);
    }

    /// Room for where the lanes of the running warp are, and their registers: it is about to be deoptimized.
    pub(crate) fn frame(&mut self, words: usize) -> *mut u64 {
        let &mut WarpContext { resident, first_thread, .. } = self.context();
        let resident = self.residents[resident].as_mut().expect("the block is resident");
        resident.deoptimized.push(DeoptimizedWarp { first_thread, frame: vec![0; words] });
        resident.deoptimized.last_mut().expect("it was just made").frame.as_mut_ptr()
    }

    /// The running warp gives way, and does not go on: its lanes do, as threads.
    pub(crate) fn begin_deoptimization(&mut self) {
        self.break_ring();
        // Those of the block that it would have run are left to others, and so are the blocks.
        let launch = self.launch;
        let context = self.context();
        let (place, block) = (context.resident, context.block);
        let (left, blocks_left) = (std::mem::take(&mut context.left), std::mem::take(&mut context.blocks_left));
        if blocks_left > 0 {
            let next = launch.index_of(block) + 1;
            self.returned.push(next..next + u64::from(blocks_left));
        }
        let resident = self.residents[place].as_mut().expect("the block is resident");
        resident.block = block;
        if left > 0 {
            resident.next_unit -= left;
            self.starting = Some(place);
        }
        self.is_deoptimized = true;
    }

    /// Starts a thread for each lane of the warps that were written down last, with stacks of so many bytes.
    pub(crate) fn deoptimize(&mut self, stack: usize) {
        let deoptimized = self.running();
        let &mut WarpContext { resident: place, block, shared, .. } = self.context();
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let first = std::mem::replace(&mut resident.deoptimized_before, resident.deoptimized.len());
        resident.running -= 1;
        if self.launch.kernel.has_region_loops {
            // Warps that were not written down have ended.
            resident.alive.fill(0);
        }
        for index in first..resident.deoptimized.len() {
            let resident = self.residents[place].as_mut().expect("the block is resident");
            let DeoptimizedWarp { first_thread, frame } = &resident.deoptimized[index];
            let (first_thread, frame_start) = (*first_thread, frame.as_ptr());
            let points: [u64; 32] = *frame.first_chunk().expect("a frame begins with where the lanes are");
            let lanes = (0..32).filter(|&lane| points[lane as usize] != 0);
            let alive: u32 = lanes.clone().fold(0, |mask, lane| mask | 1 << lane);
            resident.alive[first_thread as usize / 32] = alive;
            resident.running += alive.count_ones();
            for lane in lanes {
                let fibre = match self.idle_threads.pop() {
                    Some(fibre) => fibre,
                    None => match self.new_fibre(stack) {
                        Some(fibre) => fibre,
                        None => return,
                    },
                };
                let resident = self.residents[place].as_mut().expect("the block is resident");
                let context = &mut self.fibres[fibre].context;
                context.shared = shared;
                context.local = resident.local(first_thread + lane, self.launch.kernel.local);
                context.counts = resident.counts();
                context.block = block;
                context.first_thread = first_thread + lane;
                context.lanes = 1;
                context.resident = place;
                context.resume = points[lane as usize];
                context.frame = frame_start;
                context.is_thread = true;
                self.make_ready(fibre);
                self.ready.push_back(fibre);
            }
        }
        // What is on the stack of the warp is not needed any more.
        self.fibres[deoptimized].context.saved = self.fibres[deoptimized].stack.prepare(self.fibre_main);
        self.fibres[deoptimized].state = State::Idle;
        self.idle.push(deoptimized);
    }

    /// The warp on the running fibre has ended.
    pub(crate) fn finish(&mut self) -> After {
        if let Some((saved, to)) = self.leave_ring() {
            return After::Turn(saved, to);
        }
        self.break_ring();
        (self.spins, self.rounds) = (0, 0);
        let fibre = self.running();
        let place = self.fibres[fibre].context.resident;
        let (warp, lanes) = self.lanes_of_running();
        let resident = self.residents[place].as_mut().expect("the block is resident");
        resident.alive[warp] &= !lanes;
        resident.running -= 1;
        let is_over = resident.running == 0 && resident.next_unit == resident.units;
        self.fibres[fibre].state = State::Idle;
        if is_over {
            let mut resident = self.residents[place].take().expect("the block is resident");
            self.resident_count -= 1;
            resident.add_counts(self.launch);
            if let Some(observer) = self.launch.observer {
                observer.ends(resident.block);
            }
            match &self.spare {
                Some(_) => self.launch.shared.give_back(resident.slot),
                None => self.spare = Some(resident),
            }
        } else {
            self.release_barriers(place);
            self.release_meetings(place, warp);
        }
        let is_deoptimized = self.fibres[fibre].context.is_thread && self.launch.kernel.width == Width::Warp;
        if is_deoptimized {
            self.idle_threads.push(fibre);
            return After::Yield;
        }
        let goes_on = self.ready.is_empty() && self.launch.schedule.is_in_order() && !self.launch.is_stopped();
        if goes_on && self.fault.is_none() && !self.takes_turns() {
            let next = match self.starting {
                Some(place) => Some(place),
                None => self.start_block(),
            };
            if let Some(next) = next {
                self.begin(fibre, next);
                return After::Warp;
            }
        }
        self.idle.push(fibre);
        After::Yield
    }

    /// The warp of the running fibre, and its lanes.
    fn lanes_of_running(&self) -> (usize, u32) {
        let context = &self.fibres[self.running()].context;
        (context.warp(), context.lanes << context.first_lane())
    }

    /// Whether another warp runs now, before the running one accesses memory. If so, it gives way.
    pub(crate) fn preempt(&mut self) -> bool {
        let yields = match self.launch.schedule {
            Policy::InOrder | Policy::ByThread => false,
            Policy::Random => self.random.below(4) == 0,
            Policy::Pct => self.is_overtaken(),
        };
        if yields {
            self.ready.push_back(self.running());
        }
        yields
    }

    /// The running warp waits for memory that another thread will write: it gives way, but can go on at any time.
    pub(crate) fn spin(&mut self) {
        self.break_ring();
        self.spins += 1;
        self.rounds += 1;
        if self.rounds.is_multiple_of(1024) && self.launch.is_late() {
            let waiters = self.waiters();
            self.fail(FaultKind::Timeout { waiters }, 0, 0);
            return;
        }
        let running = self.running();
        let fibre = &mut self.fibres[running];
        if let Some(priorities) = &mut self.priorities {
            // Else it would wait for ever for one below it.
            fibre.priority = priorities.fall();
        }
        fibre.spins += 1;
        if fibre.spins >= SPINS && fibre.context.is_thread {
            let (place, warp) = (fibre.context.resident, fibre.context.warp());
            self.release_meetings(place, warp);
        }
        self.ready.push_back(self.running());
    }

    /// The running warp waits for another: if nobody else is ready, that is one that has not begun.
    pub(crate) fn await_others(&mut self) {
        self.spin();
        self.awaits_start = self.ready.len() == 1;
    }

    /// Lanes of the running warp arrive at a barrier of their block.
    pub(crate) fn arrive(&mut self, arrival: Arrival) -> Wait {
        self.break_ring();
        let Arrival { waits, line, id, count, lanes, yes } = arrival;
        self.spins = 0;
        let fibre = self.running();
        let (place, warp, first) = {
            let context = &self.fibres[fibre].context;
            (context.resident, context.warp(), context.first_lane())
        };
        if id as usize >= BARRIERS {
            self.fail(FaultKind::BadBarrier { id }, line, 0);
            return Wait::Yield;
        }
        let resident = self.residents[place].as_mut().expect("the block is resident");
        // A warp comes as a whole: lanes that do not have ended.
        let have_ended = !self.fibres[fibre].context.is_thread && resident.alive[warp] != lanes;
        if have_ended {
            resident.alive[warp] = lanes;
        }
        let warps = resident.alive.len();
        resident.busy |= 1 << id;
        let barrier = &mut resident.barriers[id as usize];
        barrier.arrive(warps, warp, lanes << first, count, yes << first);
        self.fibres[fibre].spins = 0;
        if waits {
            barrier.waiting.push(fibre);
            self.fibres[fibre].state = State::Barrier { id, line };
        }
        if have_ended {
            self.release_barriers(place);
        } else {
            self.release_barrier(place, id as usize);
        }
        self.release_meetings(place, warp);
        if waits { self.wait(fibre) } else { Wait::Answer(0) }
    }

    /// Lanes of the running warp arrive at the barrier of the cluster, and go on.
    pub(crate) fn arrive_at_cluster(&mut self, lanes: u32) {
        self.break_ring();
        self.spins = 0;
        let context = &self.fibres[self.running()].context;
        let (place, warp, first) = (context.resident, context.warp(), context.first_lane());
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let warps = resident.alive.len();
        resident.busy |= 1 << CLUSTER;
        resident.barriers[CLUSTER].arrive(warps, warp, lanes << first, 0, 0);
        self.release_barriers(place);
    }

    /// Lanes of the running warp wait until all have come to the barrier of the cluster at which they arrived last. If
    /// that has happened, they are no longer among those that have arrived.
    pub(crate) fn wait_for_cluster(&mut self, line: u32, lanes: u32) -> Wait {
        self.break_ring();
        self.spins = 0;
        let fibre = self.running();
        let context = &self.fibres[fibre].context;
        let (place, warp, first) = (context.resident, context.warp(), context.first_lane());
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let barrier = &mut resident.barriers[CLUSTER];
        if !barrier.has_arrived(warp, lanes << first) {
            return Wait::Answer(0);
        }
        barrier.waiting.push(fibre);
        self.fibres[fibre].state = State::Barrier { id: CLUSTER as u32, line };
        self.fibres[fibre].spins = 0;
        self.release_meetings(place, warp);
        self.wait(fibre)
    }

    /// Whether a fibre that was made to wait has been let go on already; then it goes first, unless the schedule says
    /// otherwise.
    fn wait(&mut self, fibre: usize) -> Wait {
        if self.fibres[fibre].state != State::Ready {
            if let (Some(observer), Some(waiter)) = (self.launch.observer, self.waiter(&self.fibres[fibre])) {
                observer.waits(&waiter);
            }
            return Wait::Yield;
        }
        let goes_first = match self.launch.schedule {
            Policy::InOrder | Policy::Random => true,
            Policy::ByThread => false,
            Policy::Pct => !self.is_overtaken(),
        };
        if !goes_first {
            return Wait::Yield;
        }
        let position = self.ready.iter().rposition(|&other| other == fibre).expect("it was made ready");
        self.ready.remove(position);
        self.ready_before = self.ready.len();
        Wait::Answer(self.fibres[fibre].answer)
    }

    /// The number of the running fibre.
    fn running(&self) -> usize {
        // SAFETY: fibres are boxed and live as long as the schedule, and only their contexts are written there.
        unsafe { (*self.current.get()).fibre }
    }

    /// What the running fibre was told when it was let go on.
    pub(crate) fn answer(&self) -> u64 {
        self.fibres[self.running()].answer
    }

    /// Lets those go on that wait at barriers of a block, of which threads have ended.
    fn release_barriers(&mut self, place: usize) {
        let mut busy = self.residents[place].as_ref().expect("the block is resident").busy;
        while busy != 0 {
            self.release_barrier(place, busy.trailing_zeros() as usize);
            busy &= busy - 1;
        }
    }

    /// Lets those go on that wait at a barrier, if all have come.
    fn release_barrier(&mut self, place: usize, id: usize) {
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let barrier = &mut resident.barriers[id];
        if barrier.is_idle() || !barrier.is_complete(&resident.alive) {
            return;
        }
        let tally = barrier.tally();
        if self.launch.schedule == Policy::ByThread {
            let fibres = &self.fibres;
            barrier.waiting.sort_by_key(|&fibre| fibres[fibre].context.first_thread);
        }
        for &fibre in &barrier.waiting {
            self.fibres[fibre].state = State::Ready;
            self.fibres[fibre].answer = u64::from(tally.count) << 32 | u64::from(tally.yes);
            self.ready.push_back(fibre);
        }
        let released = barrier.waiting.len();
        barrier.restart();
        resident.busy &= !(1 << id);
        if id == 0 {
            self.form_ring(place, released);
        }
    }

    /// A thread that runs on its own comes to something that lanes do together: those of a mask, or whoever is there.
    ///
    /// That is no progress that others could wait for: lanes that spin may tell each other what they see.
    pub(crate) fn meet(&mut self, what: Collective, line: u32, mask: Option<u32>, values: [u64; 3]) -> Wait {
        let fibre = self.running();
        let (place, warp, lane, calls) = {
            let context = &self.fibres[fibre].context;
            (context.resident, context.warp(), context.first_lane(), context.calls)
        };
        let calls = if mask.is_none() { calls } else { 0 };
        if let Some(mask) = mask
            && mask >> lane & 1 == 0
        {
            self.tell_lane_not_in_mask(line, 0, mask);
        }
        let is_loose = mask.is_none();
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let found = resident.rendezvous.iter().position(|rendezvous| {
            rendezvous.warp == warp
                && rendezvous.what == what
                && rendezvous.calls == calls
                && (rendezvous.line == line || what == Collective::Barrier)
        });
        let index = found.unwrap_or_else(|| {
            resident.rendezvous.push(Rendezvous {
                warp,
                what,
                line,
                calls,
                is_loose,
                arrivals: Box::default(),
                fibres: [0; 32],
            });
            resident.rendezvous.len() - 1
        });
        let rendezvous = &mut resident.rendezvous[index];
        rendezvous.arrivals.join(lane, mask.unwrap_or(u32::MAX), values);
        rendezvous.fibres[lane as usize] = fibre;
        self.fibres[fibre].state = State::Collective { line };
        self.fibres[fibre].spins = 0;
        self.release_meetings(place, warp);
        self.wait(fibre)
    }

    /// Lets go on who has met all that it waits for.
    ///
    /// Nobody goes on before all threads of the warp wait, or spin. So what a thread gets does not depend on who comes
    /// first, also if it is for whoever is there, or for a thread that is not among those that it names.
    fn release_meetings(&mut self, place: usize, warp: usize) {
        let Some(resident) = self.residents[place].as_mut() else { return };
        if resident.rendezvous.is_empty() {
            return;
        }
        let alive = resident.alive[warp];
        let waits = |fibre: &Fibre| {
            fibre.context.resident == place
                && fibre.context.warp() == warp
                && match fibre.state {
                    State::Barrier { .. } | State::Collective { .. } => true,
                    State::Ready => fibre.spins >= SPINS,
                    State::Idle => false,
                }
        };
        let waiting = self.fibres.iter().filter(|fibre| waits(fibre)).count() as u32;
        if waiting < alive.count_ones() {
            return;
        }
        let named = |lanes: &dyn Fn(&Arrivals) -> u32, rendezvous: &Rendezvous| match rendezvous.is_loose {
            true => 0,
            false => lanes(&rendezvous.arrivals),
        };
        let _ = self.release(place, warp, |rendezvous| named(&|arrivals| arrivals.complete(alive), rendezvous))
            || self.release(place, warp, |rendezvous| if rendezvous.is_loose { rendezvous.arrivals.here } else { 0 })
            || self.release(place, warp, |rendezvous| named(&Arrivals::lanes_not_in_mask, rendezvous));
    }

    /// Nobody can go on: lets lanes go on that have met whom they name, though these name others. Says whether there
    /// were any.
    fn release_mixed(&mut self) -> bool {
        let mut has_released = false;
        for place in 0..self.residents.len() {
            let Some(resident) = &self.residents[place] else { continue };
            for (warp, alive) in resident.alive.clone().into_iter().enumerate() {
                has_released |= self.release(place, warp, |rendezvous| rendezvous.arrivals.mixed(alive));
            }
        }
        has_released
    }

    /// Lets lanes go on that each rendezvous of a warp is asked for. Says whether there were any.
    fn release(&mut self, place: usize, warp: usize, lanes: impl Fn(&Rendezvous) -> u32) -> bool {
        let resident = self.residents[place].as_mut().expect("the block is resident");
        let mut has_released = false;
        for rendezvous in resident.rendezvous.iter_mut().filter(|rendezvous| rendezvous.warp == warp) {
            let lanes = lanes(rendezvous);
            let each = || (0..32).filter(|lane| lanes >> lane & 1 != 0);
            for lane in each() {
                let fibre = &mut self.fibres[rendezvous.fibres[lane as usize]];
                let (first, second) = rendezvous.arrivals.result(rendezvous.what, lane);
                fibre.answer = u64::from(second) << 32 | u64::from(first);
                fibre.state = State::Ready;
                self.ready.push_back(rendezvous.fibres[lane as usize]);
                has_released = true;
            }
            if self.launch.schedule == Policy::ByThread {
                // Threads of later warps have not had their turn.
                self.ready.rotate_right(lanes.count_ones() as usize);
            }
            each().for_each(|lane| rendezvous.arrivals.leave(lane));
        }
        resident.rendezvous.retain(|rendezvous| rendezvous.arrivals.here != 0);
        has_released
    }

    /// Tells of a lane of the running warp that is not among those that it names.
    pub(crate) fn tell_lane_not_in_mask(&self, line: u32, lane: u32, mask: u32) {
        if let Some(observer) = self.launch.observer {
            let context = &self.fibres[self.running()].context;
            let thread = self.launch.thread_of(context.first_thread + lane);
            observer.lane_not_in_mask(&LaneNotInMask { block: context.block, thread, mask, line });
        }
    }

    /// Ends the launch because of what the running warp did, which must give way and does not go on.
    pub(crate) fn fail(&mut self, kind: FaultKind, line: u32, lane: u32) {
        self.break_ring();
        let context = &self.fibres[self.running()].context;
        let thread = self.launch.thread_of(context.first_thread + lane);
        let fault = Fault { kind, line, block: context.block, thread };
        if let Some(observer) = self.launch.observer {
            observer.fault(&fault);
        }
        self.fault = Some(fault);
        self.launch.stop();
    }

    fn deadlock(&self) -> Fault {
        if let Some(observer) = self.launch.observer {
            observer.deadlock(&self.waiters());
        }
        Fault { kind: FaultKind::Deadlock { waiters: self.waiters() }, line: 0, block: [0; 3], thread: [0; 3] }
    }

    /// Who waits where; the first of many.
    pub(crate) fn waiters(&self) -> Vec<Waiter> {
        const MOST: usize = 64;
        self.fibres.iter().filter_map(|fibre| self.waiter(fibre)).take(MOST).collect()
    }

    /// Where a fibre waits, if it does.
    fn waiter(&self, fibre: &Fibre) -> Option<Waiter> {
        let (barrier, line) = match fibre.state {
            State::Barrier { id, line } => (Some(id), line),
            State::Collective { line } => (None, line),
            _ => return None,
        };
        let thread = self.launch.thread_of(fibre.context.first_thread);
        Some(Waiter { block: fibre.context.block, thread, barrier, line })
    }

    /// The copies of the running warp's block, and the number of the first thread of the warp.
    pub(crate) fn copies(&mut self) -> (&mut Copies, u32) {
        let context = &self.fibres[self.running()].context;
        let (place, first_thread) = (context.resident, context.first_thread);
        (&mut self.residents[place].as_mut().expect("the block is resident").copies, first_thread)
    }

    /// The copies that the lanes of the running warp have to wait for, of which so many groups may be left.
    pub(crate) fn take_copies(&mut self, lanes: u32, pending_groups: Option<u32>) -> Vec<copies::Copy> {
        let (copies, first_thread) = self.copies();
        if copies.is_empty() {
            return Vec::new();
        }
        let threads = (0..32).filter(|lane| lanes >> lane & 1 != 0).map(|lane| first_thread + lane);
        threads.flat_map(|thread| copies.take(thread, pending_groups)).collect()
    }

    /// The context of the running warp.
    pub(crate) fn context(&mut self) -> &mut WarpContext {
        let running = self.running();
        &mut self.fibres[running].context
    }

    /// Whether an address lies below the stack of the running fibre.
    pub(crate) fn is_stack_overflow(&self, address: usize) -> bool {
        self.fibres[self.running()].stack.is_overflow(address)
    }
}
