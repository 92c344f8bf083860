//! Collectives: when all members have come, their values are exchanged and they go on.

use super::collective::{self, Values};
use super::lane::Lane;
use super::matrix;
use super::schedule::Run;
use super::thread::{State, Thread};
use crate::code::{Arg, Code, Collective, CollectiveOp, Inst, Members};
use crate::fault::{FaultKind, LaunchError};
use crate::memory::Window;

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
        match members {
            Members::Here => {
                state.state = State::AtHere;
                place.here_since[warp].get_or_insert(clock);
                return self.settle(block, warp);
            }
            Members::All => state.state = State::AtCollective { mask: u32::MAX },
            Members::Mask => {
                let mask = mask_arg.map_or(0, |arg| state.read(grid, clock, arg)) as u32;
                state.state = State::AtCollective { mask };
                let lane = thread % 32;
                if mask >> lane & 1 == 0 {
                    return Err(self.fault(block, thread, FaultKind::NotInMask { lane, mask }));
                }
            }
        }
        let State::AtCollective { mask } = self.block(block).threads[thread as usize].state else {
            return Ok(());
        };
        self.try_collective(block, thread, mask)?;
        self.settle(block, warp)
    }

    /// Exchanges if all lanes of a mask that have not exited stand where this thread stands.
    pub(super) fn try_collective(&mut self, block: u32, thread: u32, mask: u32) -> Result<(), LaunchError> {
        let warp = thread as usize / 32;
        let place = self.blocks[block as usize].as_ref().expect("the block is there");
        let wanted = mask & place.live[warp];
        let same_place = |other: &Thread| {
            other.state == State::AtCollective { mask }
                && (other.place() == place.threads[thread as usize].place()
                    || self.is_warp_barrier(block, other.index) && self.is_warp_barrier(block, thread))
        };
        let first = warp * 32;
        let here = (0..32)
            .filter(|lane| wanted >> lane & 1 == 1 && same_place(&place.threads[first + lane]))
            .fold(0_u32, |mask, lane| mask | 1 << lane);
        if here == wanted {
            self.exchange(block, warp, wanted)?;
        }
        Ok(())
    }

    fn is_warp_barrier(&self, block: u32, thread: u32) -> bool {
        matches!(&self.inst(block, thread).code, Code::Collective(Collective { op: CollectiveOp::Sync, .. }))
    }

    /// Executes the collective at which lanes of a warp stand, and lets them go on.
    pub(super) fn exchange(&mut self, block: u32, warp: usize, lanes: u32) -> Result<(), LaunchError> {
        let first = warp as u32 * 32;
        let (grid, clock) = (self.grid, self.clock);
        let leader = first + lanes.trailing_zeros();
        let Code::Collective(leading) = &self.inst(block, leader).code else {
            panic!("a thread waits for a collective only at one");
        };
        let op = leading.op.clone();
        let each = || (0..32).filter(|lane| lanes >> lane & 1 == 1);
        let mut values: Values = [None; 32];
        let place = self.blocks[block as usize].as_ref().expect("the block is there");
        for lane in each() {
            let thread = &place.threads[(first + lane) as usize];
            let args = &self.inst(block, first + lane).args;
            let mut value = [0; 3];
            for (value, &arg) in value.iter_mut().zip(args) {
                *value = thread.read(grid, clock, arg);
            }
            values[lane as usize] = Some(value);
        }
        for lane in each() {
            let Some(results) = collective::result(&op, &values, lanes, lane) else {
                break;
            };
            let dests = self.inst(block, first + lane).dests.clone();
            let thread = &mut self.block(block).threads[(first + lane) as usize];
            for (&dest, value) in dests.iter().zip(results) {
                thread.write(dest, value);
            }
        }
        self.exchange_matrices(block, warp, lanes, &op)?;
        for lane in each() {
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
