//! One thread at work: runs until it ends, waits, or has had its share.

use smallvec::SmallVec;

use super::pure;
use super::thread::{Grid, Thread};
use crate::arith::int::{self, mask};
use crate::code::{Arg, Barrier, Carry, CarryOp, Code, Inst};
use crate::fault::FaultKind;
use crate::memory::Memory;
use crate::thread_access::ThreadAccess;

/// A thread with everything that it can reach.
pub(crate) struct Lane<'r> {
    pub grid: &'r Grid<'r>,
    pub thread: &'r mut Thread,
    pub shared: &'r mut [u8],
    pub memory: &'r mut Memory,
    /// What threads accessed, if that is listed.
    pub accesses: &'r mut Vec<ThreadAccess>,
    pub output: &'r mut String,
    /// Bytes that `malloc` gave away.
    pub heap: &'r mut u64,
    /// Instructions executed by all threads.
    pub clock: &'r mut u64,
}

/// Why a thread stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// Its share is used up, or it spins.
    Yield,
    Exit,
    /// It stands at a barrier of the block.
    Barrier(Barrier),
    ClusterWait,
    /// It stands at a collective.
    Collective,
    /// It has arrived at the cluster's barrier, and goes on.
    ClusterArrive,
    /// The instructions of the whole launch are used up.
    Budget,
}

/// Where a thread goes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    Next,
    Jump(u32),
    Exit,
    /// On to the next, but others first.
    Yield,
    /// Waits at this instruction.
    Wait(Stop),
}

impl Lane<'_> {
    pub(crate) fn read(&self, arg: Arg) -> u128 {
        self.thread.read(self.grid, *self.clock, arg)
    }

    /// Runs at most so many instructions.
    pub(crate) fn run(&mut self, share: u32) -> Result<Stop, FaultKind> {
        let program = self.grid.program;
        let budget = self.grid.config.instruction_budget;
        for _ in 0..share {
            if *self.clock >= budget {
                return Ok(Stop::Budget);
            }
            *self.clock += 1;
            let frame = *self.thread.frame();
            let inst = &program.functions[frame.function as usize].code[frame.pc as usize];
            if let Some((slot, negated)) = inst.guard
                && (self.thread.registers[(frame.registers + slot) as usize] & 1 == 1) == negated
            {
                self.thread.frame_mut().pc += 1;
                continue;
            }
            match self.execute(inst)? {
                Flow::Next => self.thread.frame_mut().pc += 1,
                Flow::Jump(pc) => self.thread.frame_mut().pc = pc,
                Flow::Exit => return Ok(Stop::Exit),
                Flow::Yield => {
                    self.thread.frame_mut().pc += 1;
                    return Ok(Stop::Yield);
                }
                Flow::Wait(stop) => return Ok(stop),
            }
        }
        Ok(Stop::Yield)
    }

    fn execute(&mut self, inst: &Inst) -> Result<Flow, FaultKind> {
        match &inst.code {
            Code::Pure(op) => {
                let mut args = [0; 4];
                for (value, &arg) in args.iter_mut().zip(&inst.args) {
                    *value = self.read(arg);
                }
                let value = pure::eval(*op, &args[..inst.args.len().min(4)]);
                if let Some(&dest) = inst.dests.first() {
                    self.thread.write(dest, value);
                }
            }
            Code::Deal { sources, targets } => self.deal(inst, sources, targets),
            Code::Setp(setp) => {
                let args: SmallVec<[u128; 4]> = inst.args.iter().map(|&arg| self.read(arg)).collect();
                let (p, q) = pure::setp(*setp, &args);
                for (&dest, value) in inst.dests.iter().zip([p, q]) {
                    self.thread.write(dest, value.into());
                }
            }
            Code::Lop3Predicate { table, or } => {
                let word = |index: usize| self.read(inst.args[index]) as u32;
                let value = crate::arith::bits::lop3(*table, word(0), word(1), word(2));
                let predicate = self.read(inst.args[3]) & 1 == 1;
                let holds = if *or { value != 0 || predicate } else { value != 0 && predicate };
                self.thread.write(inst.dests[0], value.into());
                self.thread.write(inst.dests[1], holds.into());
            }
            Code::Carry(carry) => self.carry(inst, *carry),
            Code::Load { size, signed } => self.execute_load(inst, *size, *signed)?,
            Code::Store { size } => self.execute_store(inst, *size)?,
            Code::Atomic(atomic) => self.execute_atomic(inst, *atomic)?,
            Code::CopyAsync { size, has_source_size, is_predicate } => {
                self.execute_copy(inst, *size, *has_source_size, *is_predicate)?;
            }
            Code::CopyBulk => self.execute_copy_bulk(inst)?,
            Code::TryCancel => {
                let address = self.address_of(inst.addresses[0]);
                self.store(inst.addresses[0].window, address, 16)?.fill(0);
                self.change_mbarrier(inst.addresses[1], |barrier| barrier.complete_tx(16))?;
            }
            Code::StoreBulk => {
                let size = self.read(inst.args[0]) as u32;
                let address = self.address_of(inst.addresses[0]);
                self.store_unaligned(inst.addresses[0].window, address, size)?.fill(0);
            }
            Code::Mbarrier(op) => {
                if self.execute_mbarrier(inst, *op)? {
                    return Ok(Flow::Yield);
                }
            }
            Code::Bra(target) => return Ok(Flow::Jump(*target)),
            Code::BrxIdx(targets) => {
                let index = self.read(inst.args[0]) as u32;
                let target = targets.get(index as usize);
                let fault = FaultKind::BranchIndex { index: index.into(), len: targets.len() };
                return target.map(|&target| Flow::Jump(target)).ok_or(fault);
            }
            Code::Call(call) => return self.execute_call(inst, call),
            Code::Ret => return Ok(self.execute_return()),
            Code::Exit => return Ok(Flow::Exit),
            Code::Trap => return Err(FaultKind::Trap),
            Code::Nop => {}
            Code::Yield => return Ok(Flow::Yield),
            Code::Alloca { align } => {
                let size = self.read(inst.args[0]) as u64;
                let start = (self.thread.local.len() as u64).next_multiple_of(*align);
                let end = start.saturating_add(size);
                if end > self.grid.config.local_bytes.into() {
                    return Err(FaultKind::StackOverflow);
                }
                self.thread.local.resize(end as usize, 0);
                self.thread.write(inst.dests[0], start.into());
            }
            Code::StackSave => {
                let top = self.thread.local.len() as u128;
                self.thread.write(inst.dests[0], top);
            }
            Code::StackRestore => {
                let top = self.read(inst.args[0]) as usize;
                if top > self.thread.local.len() {
                    return Err(FaultKind::StackOverflow);
                }
                self.thread.local.truncate(top);
            }
            Code::Barrier(barrier) => return Ok(Flow::Wait(Stop::Barrier(*barrier))),
            Code::ClusterArrive => return Ok(Flow::Wait(Stop::ClusterArrive)),
            Code::ClusterWait => return Ok(Flow::Wait(Stop::ClusterWait)),
            Code::Collective(_) => return Ok(Flow::Wait(Stop::Collective)),
        }
        Ok(Flow::Next)
    }

    /// Strings values together and deals them out.
    fn deal(&mut self, inst: &Inst, sources: &[u8], targets: &[u8]) {
        // A vector of four 64-bit elements is wider than any number: elements that fit one to one are just copied.
        if sources == targets {
            let values: SmallVec<[u128; 8]> = inst.args.iter().map(|&arg| self.read(arg)).collect();
            for (&dest, value) in inst.dests.iter().zip(values) {
                self.thread.write(dest, value);
            }
            return;
        }
        let mut shift = 0;
        let mut all = 0_u128;
        for (&arg, &width) in inst.args.iter().zip(sources) {
            all |= (self.read(arg) & mask(width.into())) << shift;
            shift += u32::from(width);
        }
        let mut shift = 0;
        for (&dest, &width) in inst.dests.iter().zip(targets) {
            self.thread.write(dest, all >> shift & mask(width.into()));
            shift += u32::from(width);
        }
    }

    fn carry(&mut self, inst: &Inst, carry: Carry) {
        let value = |index: usize| self.read(inst.args[index]);
        let bits = carry.ty.bits;
        let carry_in = carry.read && self.thread.carry;
        let product = |high: bool| {
            let (a, b) = (carry.ty.value(value(0)), carry.ty.value(value(1)));
            let product = if high { int::mul_hi(carry.ty, a, b) } else { a.wrapping_mul(b) };
            product as u128
        };
        let (result, carry_out) = match carry.op {
            CarryOp::Add => int::add_carry(bits, value(0), value(1), carry_in),
            // The flag is set where nothing is borrowed.
            CarryOp::Sub => {
                let (result, borrow) = int::sub_borrow(bits, value(0), value(1), carry.read && !carry_in);
                (result, !borrow)
            }
            CarryOp::MadLo => int::add_carry(bits, product(false), value(2), carry_in),
            CarryOp::MadHi => int::add_carry(bits, product(true), value(2), carry_in),
        };
        self.thread.write(inst.dests[0], result);
        if carry.write {
            self.thread.carry = carry_out;
        }
    }
}
