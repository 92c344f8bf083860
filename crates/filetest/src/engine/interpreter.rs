//! The interpreter as an engine.

use anyhow::{Context, Result};
use interp::{Config, FaultKind, LaunchError, Machine};
use ptx::ir::Module;

use super::{Device, Ending, Engine, FaultClass};

/// The interpreter in some configuration.
#[derive(Clone, Debug)]
pub struct Interpreter {
    /// What it is called.
    pub name: String,
    /// The configuration.
    pub config: Config,
}

impl Engine for Interpreter {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn schedules_like_interpreter(&self) -> bool {
        self.config.schedule == Config::default().schedule
    }

    fn load<'m>(&self, module: &'m Module) -> Result<Box<dyn Device + 'm>> {
        let config = Config { instruction_budget: 20_000_000, ..self.config.clone() };
        Ok(Box::new(Machine::new(module, config)?))
    }
}

impl Device for Machine<'_> {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64> {
        Ok(Machine::allocate(self, bytes, align))
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        Machine::write(self, address, bytes).context("writing memory")
    }

    fn read(&mut self, address: u64, len: u64) -> Result<Vec<u8>> {
        Ok(Machine::read(self, address, len).context("reading memory")?.to_vec())
    }

    fn launch(&mut self, launch: &interp::Launch<'_>) -> Result<Ending> {
        Ok(match Machine::launch(self, launch) {
            Ok(outcome) => Ending::Done(outcome.output),
            Err(error @ (LaunchError::NoSuchKernel(_) | LaunchError::Configuration { .. })) => return Err(error.into()),
            Err(error) => Ending::Fault(class(&error), error.to_string()),
        })
    }
}

fn class(error: &LaunchError) -> FaultClass {
    match error {
        LaunchError::Deadlock { .. } => FaultClass::Deadlock,
        LaunchError::OutOfBudget { .. } => FaultClass::Budget,
        LaunchError::Fault(fault) => match fault.kind {
            FaultKind::Access { .. } => FaultClass::Access,
            FaultKind::Trap => FaultClass::Trap,
            FaultKind::Assertion { .. } => FaultClass::Assertion,
            FaultKind::StackOverflow => FaultClass::StackOverflow,
            _ => FaultClass::Undefined,
        },
        _ => FaultClass::Refused,
    }
}
