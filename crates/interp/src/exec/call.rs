//! Calls and returns: bytes are copied between the frames of caller and callee.

use super::lane::{Flow, Lane};
use super::thread::Frame;
use crate::code::{Arg, Call, Callee, Code, Inst, Place};
use crate::fault::FaultKind;
use crate::memory::from_bytes;

impl Lane<'_> {
    pub(crate) fn execute_call(&mut self, inst: &Inst, call: &Call) -> Result<Flow, FaultKind> {
        let index = match call.callee {
            Callee::Function(index) => index,
            Callee::Host(host) => {
                self.call_host(host, call)?;
                return Ok(Flow::Next);
            }
            Callee::Indirect => {
                let address = self.read(inst.args[0]) as u64;
                *self.grid.program.by_address.get(&address).ok_or(FaultKind::NoFunction(address))?
            }
        };
        let callee = &self.grid.program.functions[index as usize];
        if callee.params.len() != call.arguments.len() || callee.returns.len() != call.results.len() {
            return Err(FaultKind::Signature);
        }
        let config = self.grid.config;
        let arguments: Vec<Vec<u8>> = call.arguments.iter().map(|&place| self.read_place(place)).collect();
        let local = (self.thread.local.len() as u64).next_multiple_of(callee.frame_align.into());
        let end = local + u64::from(callee.frame_bytes);
        if self.thread.frames.len() >= config.call_depth as usize || end > u64::from(config.local_bytes) {
            return Err(FaultKind::StackOverflow);
        }
        self.thread.local.resize(end as usize, 0);
        let registers = self.thread.registers.len() as u32;
        self.thread.registers.resize((registers + callee.slots) as usize, 0);
        self.thread.frames.push(Frame { function: index, pc: 0, registers, local: local as u32 });
        for (&place, bytes) in callee.params.iter().zip(arguments) {
            self.write_place(place, &bytes);
        }
        Ok(Flow::Jump(0))
    }

    /// Returns to the caller, after its call; ends the thread if there is none.
    pub(crate) fn execute_return(&mut self) -> Flow {
        if self.thread.frames.len() == 1 {
            return Flow::Exit;
        }
        let program = self.grid.program;
        let callee = &program.functions[self.thread.frame().function as usize];
        let results: Vec<Vec<u8>> = callee.returns.iter().map(|&place| self.read_place(as_source(place))).collect();
        let frame = self.thread.frames.pop().expect("there are two");
        self.thread.registers.truncate(frame.registers as usize);
        // What `alloca` took since the call goes as well; the padding before the frame was not there before.
        let caller = *self.thread.frame();
        let decoder = &program.functions[caller.function as usize].code[caller.pc as usize];
        self.thread.local.truncate(frame.local as usize);
        let Code::Call(call) = &decoder.code else {
            panic!("a frame that was left for a call stands at it");
        };
        for (&place, bytes) in call.results.iter().zip(results) {
            self.write_place(place, &bytes);
        }
        Flow::Jump(caller.pc + 1)
    }

    /// The bytes of an argument or result.
    pub(crate) fn read_place(&self, place: Place) -> Vec<u8> {
        match place {
            Place::Frame { offset, size } => {
                let start = (self.thread.frame().local + offset) as usize;
                self.thread.local[start..start + size as usize].to_vec()
            }
            Place::Value(arg) => self.read(arg).to_le_bytes().to_vec(),
            Place::Register(_) => panic!("a register that is written is not read"),
        }
    }

    pub(crate) fn write_place(&mut self, place: Place, bytes: &[u8]) {
        match place {
            Place::Frame { offset, size } => {
                let start = (self.thread.frame().local + offset) as usize;
                let len = bytes.len().min(size as usize);
                self.thread.local[start..start + len].copy_from_slice(&bytes[..len]);
            }
            Place::Register(dest) => self.thread.write(dest, from_bytes(&bytes[..bytes.len().min(16)])),
            Place::Value(_) => panic!("a value is not written"),
        }
    }
}

/// A place that a callee wrote, to be read by its caller.
fn as_source(place: Place) -> Place {
    match place {
        Place::Register(crate::code::Dest::Reg { slot, .. }) => Place::Value(Arg::Reg(slot)),
        Place::Register(crate::code::Dest::Sink) => Place::Value(Arg::Const(0)),
        place => place,
    }
}
