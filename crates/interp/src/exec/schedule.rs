//! Who runs next, who waits for whom, and when nobody can go on.

use std::collections::VecDeque;

use ptx::ir::Module;

use super::barrier::BarrierState;
use super::lane::{Lane, Stop};
use super::thread::{Grid, State, Thread, unflatten};
use crate::code::{Barrier, BarrierKind, Code, Inst};
use crate::fault::{Fault, FaultKind, LaunchError, Wait};
use crate::launch::{Outcome, Schedule};
use crate::memory::Memory;
use crate::random::Random;
use crate::thread_access::ThreadAccess;

/// A block that has started.
pub(crate) struct Block {
    pub id: [u32; 3],
    pub shared: Vec<u8>,
    pub threads: Vec<Thread>,
    /// Lanes of each warp that have not exited.
    pub live: Vec<u32>,
    barriers: Vec<BarrierState>,
    /// Threads that have arrived at the cluster's barrier, and how often it has opened.
    cluster_arrived: u32,
    cluster_generation: u32,
    /// For each warp, when a lane came to wait for whoever joins it.
    pub here_since: Vec<Option<u64>>,
    /// For each warp, when a lane came to wait for those that it names.
    pub met_since: Vec<Option<u64>>,
}

/// A launch that is running.
pub(super) struct Run<'r> {
    pub(super) grid: &'r Grid<'r>,
    module: &'r Module,
    memory: &'r mut Memory,
    accesses: &'r mut Vec<ThreadAccess>,
    output: String,
    heap: u64,
    pub(super) clock: u64,
    pub(super) blocks: Vec<Option<Block>>,
    next_block: u64,
    pub(super) ready: VecDeque<(u32, u32)>,
    random: Random,
    schedule: Schedule,
}

/// Runs a grid to its end.
pub(crate) fn run(
    grid: &Grid<'_>,
    module: &Module,
    memory: &mut Memory,
    accesses: &mut Vec<ThreadAccess>,
    seed: u64,
) -> Result<Outcome, LaunchError> {
    let mut run = Run {
        grid,
        module,
        memory,
        accesses,
        output: String::new(),
        heap: 0,
        clock: 0,
        blocks: Vec::new(),
        next_block: 0,
        ready: VecDeque::new(),
        random: Random::new(seed),
        schedule: grid.config.schedule,
    };
    let threads = grid.threads_per_block();
    let resident = (grid.config.resident_threads / threads.max(1)).max(1);
    for _ in 0..resident {
        run.start_block(None);
    }
    run.work()?;
    Ok(Outcome { instructions: run.clock, output: run.output })
}

impl Run<'_> {
    /// Starts the next block of the grid, in the place of a finished one.
    fn start_block(&mut self, place: Option<usize>) {
        if self.next_block == self.grid.blocks() {
            return;
        }
        let id = unflatten(self.next_block, self.grid.grid);
        self.next_block += 1;
        let threads = self.grid.threads_per_block();
        let warps = threads.div_ceil(32) as usize;
        let mut live = vec![u32::MAX; warps];
        if !threads.is_multiple_of(32) {
            live[warps - 1] = (1 << (threads % 32)) - 1;
        }
        let block = Block {
            id,
            shared: vec![0; self.grid.shared_bytes() as usize],
            threads: (0..threads).map(|index| Thread::new(self.grid, id, index)).collect(),
            live,
            barriers: vec![BarrierState::new(warps); 16],
            cluster_arrived: 0,
            cluster_generation: 0,
            here_since: vec![None; warps],
            met_since: vec![None; warps],
        };
        let place = match place {
            Some(place) => {
                self.blocks[place] = Some(block);
                place
            }
            None => {
                self.blocks.push(Some(block));
                self.blocks.len() - 1
            }
        };
        self.ready.extend((0..threads).map(|thread| (place as u32, thread)));
    }

    fn work(&mut self) -> Result<(), LaunchError> {
        loop {
            let Some((block, thread)) = self.pick() else {
                if self.release_patient(0) || self.release_mixed()? {
                    continue;
                }
                return self.deadlock();
            };
            let share = match self.schedule {
                Schedule::UntilBlocked { share } => share,
                Schedule::Random { longest } => 1 + (self.random.next() % u64::from(longest.max(1))) as u32,
            };
            let stop = self.run_thread(block, thread, share)?;
            self.stopped(block, thread, stop)?;
            if self.blocks.iter().all(Option::is_none) {
                return Ok(());
            }
        }
    }

    fn pick(&mut self) -> Option<(u32, u32)> {
        match self.schedule {
            Schedule::UntilBlocked { .. } => self.ready.pop_front(),
            Schedule::Random { .. } if self.ready.is_empty() => None,
            Schedule::Random { .. } => {
                let index = self.random.next() % self.ready.len() as u64;
                self.ready.swap_remove_front(index as usize)
            }
        }
    }

    pub(super) fn block(&mut self, block: u32) -> &mut Block {
        self.blocks[block as usize].as_mut().expect("a block stays until its last thread has exited")
    }

    fn run_thread(&mut self, block: u32, thread: u32, share: u32) -> Result<Stop, LaunchError> {
        let result = self.lane(block, thread).run(share);
        result.map_err(|kind| self.fault(block, thread, kind))
    }

    /// A thread with everything that it can reach.
    pub(super) fn lane(&mut self, block: u32, thread: u32) -> Lane<'_> {
        let place = self.blocks[block as usize].as_mut().expect("the block is there");
        Lane {
            grid: self.grid,
            thread: &mut place.threads[thread as usize],
            shared: &mut place.shared,
            memory: self.memory,
            accesses: self.accesses,
            output: &mut self.output,
            heap: &mut self.heap,
            clock: &mut self.clock,
        }
    }

    fn stopped(&mut self, block: u32, thread: u32, stop: Stop) -> Result<(), LaunchError> {
        match stop {
            Stop::Yield => {
                self.ready.push_back((block, thread));
                self.release_overdue(block, thread as usize / 32)?;
            }
            Stop::Exit => self.exit(block, thread)?,
            Stop::Barrier(barrier) => self.barrier(block, thread, barrier)?,
            Stop::ClusterArrive => {
                let place = self.block(block);
                let generation = place.cluster_generation;
                place.cluster_arrived += 1;
                place.threads[thread as usize].cluster_generation = Some(generation);
                self.advance(block, thread);
                self.open_cluster(block);
            }
            Stop::ClusterWait => {
                let place = self.block(block);
                let generation = place.cluster_generation;
                let arrived = place.threads[thread as usize].cluster_generation;
                if arrived.is_some_and(|arrived| arrived < generation) {
                    self.advance(block, thread);
                } else {
                    place.threads[thread as usize].state = State::AtCluster;
                    self.settle(block, thread as usize / 32)?;
                }
            }
            Stop::Collective => self.collective(block, thread)?,
            Stop::Budget => {
                return Err(LaunchError::OutOfBudget {
                    kernel: self.grid.kernel.to_owned(),
                    budget: self.grid.config.instruction_budget,
                });
            }
        }
        Ok(())
    }

    /// The instruction at which a thread stands.
    pub(super) fn inst(&self, block: u32, thread: u32) -> &Inst {
        let (function, pc) =
            self.blocks[block as usize].as_ref().expect("the block is there").threads[thread as usize].place();
        &self.grid.program.functions[function as usize].code[pc as usize]
    }

    /// Lets a thread that waited go on after its instruction.
    pub(super) fn advance(&mut self, block: u32, thread: u32) {
        let state = &mut self.block(block).threads[thread as usize];
        state.state = State::Ready;
        state.frame_mut().pc += 1;
        self.ready.push_back((block, thread));
    }

    fn exit(&mut self, block: u32, thread: u32) -> Result<(), LaunchError> {
        let warp = thread as usize / 32;
        let place = self.block(block);
        place.threads[thread as usize].state = State::Exited;
        place.live[warp] &= !(1 << (thread % 32));
        // A thread that had arrived at the cluster's barrier is not counted twice.
        if place.threads[thread as usize].cluster_generation == Some(place.cluster_generation) {
            place.cluster_arrived -= 1;
        }
        if place.live.iter().all(|&live| live == 0) {
            self.blocks[block as usize] = None;
            self.start_block(Some(block as usize));
            return Ok(());
        }
        for id in 0..16 {
            self.open_barrier(block, id);
        }
        self.open_cluster(block);
        self.settle(block, warp)
    }

    fn barrier(&mut self, block: u32, thread: u32, barrier: Barrier) -> Result<(), LaunchError> {
        let inst = self.inst(block, thread).clone();
        let clock = self.clock;
        let grid = self.grid;
        let state = &self.block(block).threads[thread as usize];
        let value = |index: usize| state.read(grid, clock, inst.args[index]);
        let id = value(0) as u32;
        let count = barrier.has_count.then(|| value(1) as u32);
        let predicate = match barrier.kind {
            BarrierKind::Reduce(_) => value(inst.args.len() - 1) & 1 == 1,
            _ => false,
        };
        if id >= 16 || count.is_some_and(|count| count == 0 || !count.is_multiple_of(32)) {
            let kind = FaultKind::NoSuchBarrier { id, count: count.unwrap_or(0) };
            return Err(self.fault(block, thread, kind));
        }
        let place = self.block(block);
        place.barriers[id as usize].arrive(thread, count, barrier.kind, predicate);
        if barrier.kind == BarrierKind::Arrive {
            self.advance(block, thread);
        } else {
            place.threads[thread as usize].state = State::AtBarrier;
        }
        self.open_barrier(block, id as usize);
        self.settle(block, thread as usize / 32)
    }

    fn open_barrier(&mut self, block: u32, id: usize) {
        let place = self.block(block);
        let Some((waiting, opened)) = place.barriers[id].open(&place.live) else {
            return;
        };
        for thread in waiting {
            self.block(block).threads[thread as usize].interval += 1;
            let inst = self.inst(block, thread);
            if let (Code::Barrier(Barrier { kind: BarrierKind::Reduce(reduction), .. }), Some(&dest)) =
                (&inst.code, inst.dests.first())
            {
                let result = opened.result(*reduction);
                self.block(block).threads[thread as usize].write(dest, result);
            }
            self.advance(block, thread);
        }
    }

    /// Opens the barrier of the cluster, which is one block, if every live thread has arrived.
    fn open_cluster(&mut self, block: u32) {
        let place = self.block(block);
        let live: u32 = place.live.iter().map(|live| live.count_ones()).sum();
        if place.cluster_arrived < live || live == 0 || place.cluster_arrived == 0 {
            return;
        }
        place.cluster_arrived = 0;
        place.cluster_generation += 1;
        let waiting: Vec<u32> =
            place.threads.iter().filter(|thread| thread.state == State::AtCluster).map(|thread| thread.index).collect();
        for thread in waiting {
            self.advance(block, thread);
        }
    }

    pub(super) fn fault(&self, block: u32, thread: u32, kind: FaultKind) -> LaunchError {
        let place = self.blocks[block as usize].as_ref().expect("the block is there");
        let (line, instruction) = self.statement(block, thread);
        LaunchError::Fault(Box::new(Fault {
            kernel: self.grid.kernel.to_owned(),
            block: place.id,
            thread: place.threads[thread as usize].tid,
            line,
            instruction,
            kind,
        }))
    }

    /// Line and text of the instruction at which a thread stands.
    fn statement(&self, block: u32, thread: u32) -> (u32, String) {
        let place = self.blocks[block as usize].as_ref().expect("the block is there");
        let (function, pc) = place.threads[thread as usize].place();
        let function = &self.grid.program.functions[function as usize];
        let source = &self.module.functions[function.id];
        let body = source.body.as_ref().expect("a decoded function has a body");
        let stmt = function.code[pc as usize].stmt;
        let text = ptx::print_stmt(self.module, source, body, stmt);
        // Without the comment that says where the instruction comes from.
        let text = text.split("//@").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        (self.module.lines.line(body.position(stmt)), text)
    }

    fn deadlock(&self) -> Result<(), LaunchError> {
        let mut waits: Vec<Wait> = Vec::new();
        for (index, place) in self.blocks.iter().enumerate() {
            let Some(place) = place else { continue };
            for thread in place.threads.iter().filter(|thread| thread.state != State::Exited) {
                let (line, instruction) = self.statement(index as u32, thread.index);
                match waits.iter_mut().find(|wait| wait.block == place.id && wait.line == line) {
                    Some(wait) => wait.threads.push(thread.index),
                    None => waits.push(Wait { block: place.id, threads: vec![thread.index], line, instruction }),
                }
            }
        }
        Err(LaunchError::Deadlock { kernel: self.grid.kernel.to_owned(), waits })
    }
}
