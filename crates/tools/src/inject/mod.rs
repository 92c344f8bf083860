//! Fault injection: values of a kernel are changed on purpose, one fault in each trial, and it is told what came of it.
//!
//! A kernel is rewritten and compiled once for each family of faults (`version.rs`); which thread is hit, when and how is told
//! to it at the launch (`instrument.rs`, `arm.rs`). Where a trial strikes is a function of a seed and its number (`random.rs`,
//! `population.rs`). Trials of a launch run one after another from the same memory (`plan.rs`), in a process that they cannot
//! harm. The command `warpgrind inject` runs the program to count the places at which faults can strike, and then again for the
//! trials; this tool is the half of it in the program's process.

mod arm;
mod host;
mod instrument;
mod kept;
mod lanes;
mod loops;
mod model;
mod outcome;
mod plan;
mod population;
mod prints;
mod random;
mod register;
mod register_file;
mod shared;
mod tool_memory;
mod version;

use std::sync::Arc;

use rewrite::context::Word;
use rewrite::{
    Access, Branch, Call, Class, Cursor, Definition, DeviceCode, Exit, Instrumentation, KernelView, Refusal,
};
use toolkit::{Flag, Host, Instance, Options, Tool};

use model::{Model, Operation};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Inject;

/// Its name.
const TOOL: &str = "inject";

/// The number of the first thread that is armed, and how many are.
const FIRST: Word = Word("FIRST");
const ARMED: Word = Word("ARMED");
/// Where the arms are.
const ARMS: Word = Word("ARMS");
/// Where threads count, how many of them, and what.
const COUNTS: Word = Word("COUNTS");
const COUNTED: Word = Word("COUNTED");
const STRATUM: Word = Word("STRATUM");
/// Which lanes have a fault that stays: those whose number is this in these bits.
const LANE: Word = Word("LANE");
const LANES_OF_UNIT: Word = Word("LANES_OF_UNIT");
/// Results of which kind of unit have it, what they keep, and what of them is inverted.
const UNIT: Word = Word("UNIT");
const KEEPS: Word = Word("KEEPS");
const TOGGLES: Word = Word("TOGGLES");

/// What `device.ptx` says by name.
const CONSTANTS: &[(&str, u64)] = &[
    ("ARM_COUNT", 8 * arm::COUNT as u64),
    ("ARM_INDEX", 8 * arm::INDEX as u64),
    ("ARM_SITE", 8 * arm::SITE as u64),
    ("ARM_STRATA", 8 * arm::STRATA as u64),
    ("ARM_OPERATION", 8 * arm::OPERATION as u64),
    ("ARM_RANDOM", 8 * arm::RANDOM as u64),
    ("ARM_FIRED", 8 * arm::FIRED as u64),
    ("ARM_TRACE", 8 * arm::TRACE as u64),
    ("ARM_TRACED", 8 * arm::TRACED as u64),
    ("ARM_REGISTER", 8 * arm::REGISTER as u64),
    ("ANY_SITE", arm::ANY_SITE),
    ("NO_REGISTER", arm::NO_REGISTER),
    ("DOUBLE", Operation::Double as u64),
    ("RANDOM", Operation::Random as u64),
    ("ZERO", Operation::Zero as u64),
    ("NONE", Operation::None as u64),
];

/// The names of all models.
pub fn models() -> Vec<&'static str> {
    Model::ALL.iter().map(|model| model.name()).collect()
}

/// Whether a model strikes only what another tool inserts into a kernel.
pub fn needs_protection(model: &str) -> bool {
    Model::named(model).is_some_and(Model::needs_protection)
}

impl Tool for Inject {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Inject
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program with faults in its kernels, and tells what comes of them"
    }

    fn has_own_command(&self) -> bool {
        true
    }

    fn flags(&self) -> &'static [Flag] {
        host::FLAGS
    }

    fn start(&self, options: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(host::InjectInstance::new(options, host)?))
    }
}

impl Instrumentation for Inject {
    fn name(&self) -> &'static str {
        TOOL
    }

    fn class(&self) -> Class {
        Class::Last
    }

    fn words(&self) -> &'static [Word] {
        &[FIRST, ARMED, ARMS, COUNTS, COUNTED, STRATUM, LANE, LANES_OF_UNIT, UNIT, KEEPS, TOGGLES]
    }

    fn device_code(&self) -> Option<DeviceCode> {
        Some(DeviceCode { text: include_str!("device.ptx"), constants: CONSTANTS })
    }

    fn versions(&self, _kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        Ok(version::NAMES.to_vec())
    }

    fn is_plain(&self, version: usize) -> bool {
        version == version::PLAIN
    }

    fn entry(&self, at: &mut Cursor<'_, '_>) {
        instrument::entry(at);
    }

    fn exit(&self, at: &mut Cursor<'_, '_>, exit: &Exit) {
        instrument::exit(at, exit);
    }

    fn call(&self, at: &mut Cursor<'_, '_>, call: &Call) {
        instrument::call(at, call);
    }

    fn branch(&self, at: &mut Cursor<'_, '_>, branch: &Branch) {
        instrument::branch(at, branch);
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        instrument::access(at, access);
    }

    fn definition(&self, at: &mut Cursor<'_, '_>, definition: &Definition) {
        instrument::definition(at, definition);
    }
}
