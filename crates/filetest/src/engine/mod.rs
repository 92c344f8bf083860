//! Ways of running PTX that must give the same bits. The first is the interpreter, whose results are what test files
//! expect; others are compared with it.

mod communication;
mod cpu;
mod interpreter;

use anyhow::Result;
use interp::{Config, Schedule};
use ptx::ir::Module;

pub use cpu::{CpuDevice, older_processor};
pub use interpreter::Interpreter;

use crate::scenario::Scenario;

/// A way of running PTX.
pub trait Engine {
    /// What it is called in messages.
    fn name(&self) -> String;
    /// Whether threads take turns as in the interpreter's default schedule.
    fn schedules_like_interpreter(&self) -> bool {
        false
    }
    /// Whether it is of use for these launches: whether it does anything that another engine does not.
    fn suits(&self, _module: &Module, _scenario: &Scenario) -> bool {
        true
    }
    /// Loads a module.
    fn load<'m>(&self, module: &'m Module) -> Result<Box<dyn Device + 'm>>;
}

/// A module that was loaded.
pub trait Device {
    /// New global memory.
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64>;
    /// Writes memory.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()>;
    /// Reads memory.
    fn read(&mut self, address: u64, len: u64) -> Result<Vec<u8>>;
    /// Runs a kernel.
    fn launch(&mut self, launch: &interp::Launch<'_>) -> Result<Ending>;
}

/// How a launch ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Well, and what `printf` wrote.
    Done(String),
    /// With a fault: its class, in which engines must agree, and the words of the engine.
    Fault(FaultClass, String),
}

/// What kind of fault ended a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultClass {
    /// The kernel holds something that cannot be run.
    Refused,
    /// Memory that cannot be accessed.
    Access,
    /// `trap`
    Trap,
    /// `__assertfail`
    Assertion,
    /// Recursion without end.
    StackOverflow,
    /// Nobody can go on.
    Deadlock,
    /// An endless loop.
    Budget,
    /// Anything else that is undefined.
    Undefined,
}

/// The engines that run every test file, the interpreter first.
pub fn engines() -> Vec<Box<dyn Engine>> {
    let interpreter =
        |name: &str, config: Config| -> Box<dyn Engine> { Box::new(Interpreter { name: name.to_owned(), config }) };
    let random = |seed, longest| Config { seed, schedule: Schedule::Random { longest }, ..Config::default() };
    let mut engines = vec![
        interpreter("interpreter", Config::default()),
        interpreter("interpreter, one instruction at a time", random(1, 1)),
        interpreter("interpreter, random turns", random(2, 20)),
    ];
    engines.extend(cpu::engines());
    engines
}
