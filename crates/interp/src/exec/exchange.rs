//! Collectives: when all members have come, their values are exchanged and they go on.
//!
//! PTX leaves open what happens to a lane that is not among the members that it names. Processors compute with the
//! members that are there, and let the lane have the result. Here, too: so that such a lane finds the members, these
//! do not go on before all lanes of their warp have stopped somewhere.

use super::collective::{self, Values};
use super::lane::Lane;
use super::matrix;
use super::schedule::Run;
use super::thread::{State, Thread};
use crate::code::{Arg, Code, Collective, CollectiveOp, Inst, Members};
use crate::fault::{FaultKind, LaunchError};
use crate::memory::Window;

/// After so many instructions of the grid, lanes that wait for others of their warp to join them go on without.
const SPIN_LIMIT: u64 = 20_000;

/// Which lanes go on that stand at collectives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    /// Those that have met whom they name: all that have not exited stand there and name the same lanes.
    Complete,
    /// Those that do not name themselves, and so have no right to wait.
    Outsiders,
    /// Those that have met whom they name, whomever these name.
    Mixed,
}

impl Run<'_> {
    pub(super) fn collective(&mut self, block: u32, thread: u32) -> Result<(), LaunchError> {
        let inst = self.inst(block, thread);
        let Code::Collective(collective) = &inst.code else {
            panic!("a thread stops for a collective only at one");
        };
        let (members, mask_arg) = (collective.members, inst.args.last().copied());
        let (grid, clock) = (self.grid, self.clock);
        let warp = thread as usize / 32;
        let place = self.block(block);
        let state = &mut place.threads[thread as usize];
        state.state = match members {
            Members::Here => State::AtHere,
            Members::All => State::AtCollective { mask: u32::MAX },
            Members::Mask => {
                let mask = mask_arg.map_or(0, |arg| state.read(grid, clock, arg)) as u32;
                State::AtCollective { mask }
            }
        };
        match members {
            Members::Here => place.here_since[warp].get_or_insert(clock),
            Members::All | Members::Mask => place.met_since[warp].get_or_insert(clock),
        };
        self.settle(block, warp)
    }

    /// Called when a lane of a warp stops running: if no other lane can still come, those go on that have met whom they
    /// name; if there are none, those that wait for whoever joins them; and at last those that do not name themselves.
    pub(super) fn settle(&mut self, block: u32, warp: usize) -> Result<(), LaunchError> {
        let place = self.block(block);
        if place.here_since[warp].is_none() && place.met_since[warp].is_none() {
            return Ok(());
        }
        let threads = &place.threads[warp * 32..place.threads.len().min(warp * 32 + 32)];
        if threads.iter().any(|thread| thread.state == State::Ready) {
            return Ok(());
        }
        if self.release_met(block, warp, Who::Complete)? {
            return Ok(());
        }
        if self.block(block).here_since[warp].is_some() {
            return self.release_here(block, warp);
        }
        self.release_met(block, warp, Who::Outsiders).map(drop)
    }

    /// Lets the lanes of a warp that wait for whoever joins them go on, those at one place together.
    fn release_here(&mut self, block: u32, warp: usize) -> Result<(), LaunchError> {
        loop {
            let place = self.block(block);
            let first = warp * 32;
            let threads = &place.threads[first..place.threads.len().min(first + 32)];
            let Some(waiting) = threads.iter().find(|thread| thread.state == State::AtHere) else {
                place.here_since[warp] = None;
                return Ok(());
            };
            let here = |thread: &Thread| thread.state == State::AtHere && thread.calls().eq(waiting.calls());
            let lanes = (0..threads.len()).filter(|&lane| here(&threads[lane])).fold(0, |mask, lane| mask | 1 << lane);
            self.exchange(block, warp, lanes, lanes)?;
        }
    }

    /// Nobody is ready: lanes that wait for company go on without. Says whether there were any.
    pub(super) fn release_patient(&mut self, from: usize) -> bool {
        for block in from..self.blocks.len() {
            let Some(place) = &self.blocks[block] else {
                continue;
            };
            if let Some(warp) = place.here_since.iter().position(Option::is_some) {
                return self.release_here(block as u32, warp).is_ok() && !self.ready.is_empty();
            }
        }
        false
    }

    /// A lane of a warp spins: those that have waited too long for others to join them go on without.
    pub(super) fn release_overdue(&mut self, block: u32, warp: usize) -> Result<(), LaunchError> {
        let clock = self.clock;
        let is_over = |since: Option<u64>| since.is_some_and(|since| clock - since > SPIN_LIMIT);
        let place = self.block(block);
        let (met, here) = (is_over(place.met_since[warp]), is_over(place.here_since[warp]));
        let has_released = met && self.release_met(block, warp, Who::Complete)?;
        if here && !has_released {
            self.release_here(block, warp)?;
        } else if met && !has_released {
            self.release_met(block, warp, Who::Outsiders)?;
        }
        Ok(())
    }

    /// Lets the lanes of a warp go on that may, each with those that stand where it stands. Says whether there were any.
    fn release_met(&mut self, block: u32, warp: usize, who: Who) -> Result<bool, LaunchError> {
        let live = self.block(block).live[warp];
        let mut left = self.lanes(block, warp, |thread| matches!(thread.state, State::AtCollective { .. }));
        let mut has_released = false;
        while left != 0 {
            let first = warp as u32 * 32 + left.trailing_zeros();
            let here = self.together_with(block, first);
            left &= !here;
            let with_mask =
                |mask: u32| here & self.lanes(block, warp, |thread| thread.state == State::AtCollective { mask });
            let goes_on = |thread: &Thread| match (thread.state, who) {
                (State::AtCollective { mask }, Who::Complete) => {
                    mask & live != 0 && mask & live & !with_mask(mask) == 0
                }
                (State::AtCollective { mask }, Who::Outsiders) => mask >> thread.lane() & 1 == 0,
                (State::AtCollective { mask }, Who::Mixed) => mask & live & !here == 0,
                _ => false,
            };
            let lanes = here & self.lanes(block, warp, goes_on);
            if lanes != 0 {
                self.exchange(block, warp, lanes, here)?;
                has_released = true;
            }
        }
        let is_left = self.lanes(block, warp, |thread| matches!(thread.state, State::AtCollective { .. })) != 0;
        let clock = self.clock;
        self.block(block).met_since[warp] = is_left.then_some(clock);
        Ok(has_released)
    }

    /// Nobody can go on: lets lanes go on that have met whom they name, though these name others. Says whether there
    /// were any.
    pub(super) fn release_mixed(&mut self) -> Result<bool, LaunchError> {
        let mut has_released = false;
        for block in 0..self.blocks.len() {
            let warps = self.blocks[block].as_ref().map_or(0, |place| place.live.len());
            for warp in 0..warps {
                has_released |= self.release_met(block as u32, warp, Who::Mixed)?;
            }
        }
        Ok(has_released)
    }

    /// The lanes of a warp of which something is true.
    fn lanes(&self, block: u32, warp: usize, holds: impl Fn(&Thread) -> bool) -> u32 {
        let place = self.blocks[block as usize].as_ref().expect("the block is there");
        let threads = &place.threads[warp * 32..place.threads.len().min(warp * 32 + 32)];
        threads.iter().filter(|thread| holds(thread)).fold(0, |mask, thread| mask | 1 << thread.lane())
    }

    /// The lanes that stand at the same collective as a thread. Barriers of the warp are the same everywhere.
    fn together_with(&self, block: u32, thread: u32) -> u32 {
        let place = self.blocks[block as usize].as_ref().expect("the block is there");
        let decoder = place.threads[thread as usize].place();
        let is_barrier = self.is_warp_barrier(block, thread);
        self.lanes(block, thread as usize / 32, |other| {
            matches!(other.state, State::AtCollective { .. })
                && (other.place() == decoder || is_barrier && self.is_warp_barrier(block, other.index))
        })
    }

    fn is_warp_barrier(&self, block: u32, thread: u32) -> bool {
        matches!(&self.inst(block, thread).code, Code::Collective(Collective { op: CollectiveOp::Sync, .. }))
    }

    /// Executes the collective at which lanes of a warp stand, and lets some of them go on: each with the values of
    /// those that it names.
    fn exchange(&mut self, block: u32, warp: usize, lanes: u32, here: u32) -> Result<(), LaunchError> {
        let first = warp as u32 * 32;
        let (grid, clock) = (self.grid, self.clock);
        let leader = first + lanes.trailing_zeros();
        let Code::Collective(leading) = &self.inst(block, leader).code else {
            panic!("a thread waits for a collective only at one");
        };
        let op = leading.op.clone();
        let each = |lanes: u32| (0..32).filter(move |lane| lanes >> lane & 1 == 1);
        let mut values: Values = [None; 32];
        let place = self.blocks[block as usize].as_ref().expect("the block is there");
        for lane in each(here) {
            let thread = &place.threads[(first + lane) as usize];
            let args = &self.inst(block, first + lane).args;
            let mut value = [0; 3];
            for (value, &arg) in value.iter_mut().zip(args) {
                *value = thread.read(grid, clock, arg);
            }
            values[lane as usize] = Some(value);
        }
        for lane in each(lanes) {
            let members = match self.block(block).threads[(first + lane) as usize].state {
                State::AtCollective { mask } => mask & here,
                _ => here,
            };
            let Some(results) = collective::result(&op, &values, members, lane) else {
                break;
            };
            let dests = self.inst(block, first + lane).dests.clone();
            let thread = &mut self.block(block).threads[(first + lane) as usize];
            for (&dest, value) in dests.iter().zip(results) {
                thread.write(dest, value);
            }
        }
        self.exchange_matrices(block, warp, lanes, &op)?;
        for lane in each(lanes) {
            self.advance(block, first + lane);
        }
        Ok(())
    }

    /// Collectives on matrices, in which all lanes of a warp take part.
    fn exchange_matrices(&mut self, block: u32, warp: usize, lanes: u32, op: &CollectiveOp) -> Result<(), LaunchError> {
        let first = warp as u32 * 32;
        let members: Vec<u32> = (0..32).filter(|lane| lanes >> lane & 1 == 1).map(|lane| first + lane).collect();
        // Lanes that have exited or never were hold zeros.
        let args = |run: &Self| -> Vec<Vec<u128>> {
            let count = run.inst(block, members[0]).args.len();
            let mut args = vec![vec![0; count]; 32];
            let place = run.blocks[block as usize].as_ref().expect("the block is there");
            for &thread in &members {
                let read = |arg: &Arg| place.threads[thread as usize].read(run.grid, run.clock, *arg);
                args[(thread - first) as usize] = run.inst(block, thread).args.iter().map(read).collect();
            }
            args
        };
        let results = match op {
            CollectiveOp::Mma(mma) => matrix::multiply(mma, &args(self)),
            CollectiveOp::MovMatrix => {
                let rows = matrix::rows_from_registers(&args(self), 1, false);
                matrix::registers_from_rows(&rows, true)
            }
            CollectiveOp::LdMatrix { count, transpose } => {
                let mut rows = vec![[0; 16]; 8 * usize::from(*count)];
                self.for_each_row(block, &members, *count, |lane, window, address, row| {
                    rows[row].copy_from_slice(lane.load(window, address, 16)?);
                    Ok(())
                })?;
                matrix::registers_from_rows(&rows, *transpose)
            }
            CollectiveOp::StMatrix { count, transpose } => {
                let rows = matrix::rows_from_registers(&args(self), (*count).into(), *transpose);
                return self.for_each_row(block, &members, *count, |lane, window, address, row| {
                    lane.store(window, address, 16)?.copy_from_slice(&rows[row]);
                    Ok(())
                });
            }
            CollectiveOp::WmmaLoad(fragment) => {
                return self.for_each_lane(block, &members, |lane, inst| lane.load_fragment(inst, fragment));
            }
            CollectiveOp::WmmaStore(fragment) => {
                return self.for_each_lane(block, &members, |lane, inst| lane.store_fragment(inst, fragment));
            }
            _ => return Ok(()),
        };
        for &thread in &members {
            let dests = self.inst(block, thread).dests.clone();
            let state = &mut self.block(block).threads[thread as usize];
            for (&dest, &value) in dests.iter().zip(&results[(thread - first) as usize]) {
                state.write(dest, value);
            }
        }
        Ok(())
    }

    fn for_each_lane(
        &mut self,
        block: u32,
        threads: &[u32],
        mut each: impl FnMut(&mut Lane<'_>, &Inst) -> Result<(), FaultKind>,
    ) -> Result<(), LaunchError> {
        let program = self.grid.program;
        for &thread in threads {
            let mut lane = self.lane(block, thread);
            let (function, pc) = lane.thread.place();
            let inst = &program.functions[function as usize].code[pc as usize];
            each(&mut lane, inst).map_err(|kind| self.fault(block, thread, kind))?;
        }
        Ok(())
    }

    /// Calls `each` for every row of the small matrices, with the address that a lane gives for it.
    fn for_each_row(
        &mut self,
        block: u32,
        threads: &[u32],
        count: u8,
        mut each: impl FnMut(&mut Lane<'_>, Window, u64, usize) -> Result<(), FaultKind>,
    ) -> Result<(), LaunchError> {
        self.for_each_lane(block, threads, |lane, inst| {
            let row = lane.thread.lane() as usize;
            if row >= 8 * usize::from(count) {
                return Ok(());
            }
            let operand = inst.addresses[0];
            let address = lane.address_of(operand);
            each(lane, operand.window, address, row)
        })
    }
}
