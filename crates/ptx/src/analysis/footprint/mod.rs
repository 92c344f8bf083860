//! What a launch touches, known before it runs.
//!
//! [`Kernel::footprint`] executes a kernel once for all threads and all contents of memory: thread and block indices
//! are symbols, parameters have their values, and what is loaded is unknown. Two questions are answered from the
//! accesses that are found: are all inside of their objects ([`Footprint::bounds`]), and can no two threads conflict
//! ([`Footprint::races`]).
//!
//! ```
//! use ptx::analysis::footprint::{Kernel, Launch, Object};
//!
//! let module = ptx::parse("
//!     .version 8.0
//!     .target sm_80
//!     .address_size 64
//!     .visible .entry increment(.param .u64 data) {
//!         .reg .b32 %r<3>; .reg .b64 %rd<3>;
//!         ld.param.u64 %rd1, [data];
//!         mov.u32 %r1, %tid.x;
//!         mad.wide.u32 %rd2, %r1, 4, %rd1;
//!         ld.global.u32 %r2, [%rd2];
//!         add.u32 %r2, %r2, 1;
//!         st.global.u32 [%rd2], %r2;
//!         ret;
//!     }").module;
//! let kernel = Kernel::of(&module, module.function("increment").unwrap()).unwrap();
//! let objects = [Object { start: 0x1000, size: 256, variable: None }];
//! let params = 0x1000_u64.to_le_bytes();
//! let mut launch = Launch { grid: [1; 3], block: [64, 1, 1], dynamic_shared: 0, params: &params, objects: &objects };
//! let footprint = kernel.footprint(&launch);
//! assert!(footprint.bounds.is_proved() && footprint.races.is_proved());
//!
//! // One thread more leaves the object, and two blocks increment the same numbers.
//! launch.block = [65, 1, 1];
//! assert!(!kernel.footprint(&launch).bounds.is_proved());
//! (launch.grid, launch.block) = ([2, 1, 1], [64, 1, 1]);
//! assert!(!kernel.footprint(&launch).races.is_proved());
//! ```
//!
//! # What is claimed
//! - *In bounds*: no thread accesses a byte outside of the object that its pointer was made from, nor at an address that
//!   is no multiple of the size, whatever memory holds.
//! - *Race-free*: no two threads of the launch conflict as the PTX memory model has it, whatever memory holds, as long as
//!   accesses stay in their objects. Order between threads of a block comes from barriers that all of them wait at;
//!   other order is not seen.
//!
//! - *Race-free on a condition* ([`Footprint::condition`]): some threads read some places, whatever memory holds, and data
//!   decides what some instructions write. If none of these writes such a place of which another thread is the reader, no two
//!   threads of the launch conflict; if one does, those two conflict.
//!
//! What is not understood is not proved, and the reason names an instruction. All answers take bounded work, counted
//! in steps and not in time, so that they do not depend on the machine.

mod arithmetic;
mod bounds;
mod cache;
mod calls;
mod code;
mod condition;
mod decode;
mod execute;
mod ids;
mod launch;
mod linear;
mod objects;
mod path;
mod races;
mod reason;
mod record;
mod site;
mod solve;
mod touched;
mod value;
mod work;

#[cfg(test)]
mod tests;

pub use cache::Footprints;
pub use condition::{CertainRead, Condition, Reader};
pub use launch::{Launch, Object};
pub use reason::{Accessed, Cause, Reason};
pub use site::Site;

use crate::ir::{FuncId, Module};
use code::Code;
use execute::Execution;
use objects::Objects;

/// A kernel that launches can be asked about.
#[derive(Clone, Debug)]
pub struct Kernel {
    code: Code,
    /// Whether functions that it calls are in it: then its statements are not those of the module.
    has_inlined: bool,
}

/// What is known of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// Whether all accesses are inside of their objects, and aligned.
    pub bounds: Verdict,
    /// Whether no two threads conflict.
    pub races: Verdict,
    /// If that is not known: which accesses would have to take place for two threads to conflict. Nothing if that is not known,
    /// either.
    pub condition: Option<Condition>,
    /// What is accessed of memory that outlives a block; nothing if that is not known.
    pub touched: Option<Vec<Touched>>,
    /// How many instructions were executed abstractly.
    pub steps: u64,
}

/// Bytes of an object that a launch may access: no others, if its accesses stay in their objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Touched {
    /// The object.
    pub object: Accessed,
    /// The first byte.
    pub first: u64,
    /// Where they end.
    pub end: u64,
    /// Whether they may be written.
    pub is_written: bool,
    /// Whether all accesses are strong operations of the scope of the device, or of the system.
    pub is_strong: bool,
}

/// The answer to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Yes, whatever memory holds.
    Proved,
    /// Not known, for these reasons; there may be more.
    NotProved(Vec<Reason>),
}

impl Verdict {
    /// Whether the answer is yes.
    pub fn is_proved(&self) -> bool {
        matches!(self, Self::Proved)
    }

    /// Why it is not known to be yes.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::Proved => &[],
            Self::NotProved(reasons) => reasons,
        }
    }
}

impl From<Vec<Reason>> for Verdict {
    fn from(reasons: Vec<Reason>) -> Self {
        if reasons.is_empty() { Self::Proved } else { Self::NotProved(reasons) }
    }
}

/// Indices are not cut further when they have so many cuts.
const MOST_CUTS: usize = 48;
/// Reasons that are given at most.
const MOST_REASONS: usize = 8;

impl Kernel {
    /// Makes a kernel ready; nothing for a declaration.
    pub fn of(module: &Module, kernel: FuncId) -> Option<Self> {
        let inlined = calls::without_calls(module, kernel);
        let has_inlined = inlined.is_some();
        Code::of(inlined.as_ref().unwrap_or(module), kernel).map(|code| Self { code, has_inlined })
    }

    /// The variables of the module that it accesses, by their names.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.code.variables.iter().filter(|(_, info)| info.is_module_variable).map(|(_, info)| info.name.as_str())
    }

    /// Where among the parameters it may load pointers from.
    pub fn pointers(&self) -> impl Iterator<Item = u32> {
        let Code { relevant, param_bytes, .. } = &self.code;
        relevant.iter().flat_map(|range| (range.start..range.end.min(*param_bytes).saturating_sub(7)).step_by(8))
    }

    /// What a launch touches.
    pub fn footprint(&self, launch: &Launch<'_>) -> Footprint {
        let objects = Objects::of(&self.code, launch);
        let mut cuts: Vec<(bool, u8, u32)> = Vec::new();
        let mut spent = 0;
        loop {
            let mut execution = Execution::new(&self.code, launch, &objects, &cuts);
            execution.arithmetic.symbols.work().add(spent);
            execution.run_kernel();
            let wanted = execution.arithmetic.wanted_cuts.iter().filter(|cut| !cuts.contains(cut));
            let wanted: Vec<_> = wanted.copied().collect();
            if wanted.is_empty() || cuts.len() > MOST_CUTS || execution.arithmetic.symbols.work().is_over() {
                return self.answer(&execution);
            }
            cuts.extend(wanted);
            spent = execution.arithmetic.symbols.work().done();
        }
    }

    /// What an execution says.
    fn answer(&self, execution: &Execution<'_>) -> Footprint {
        let site = |place: usize| execution.code.sites[place].clone();
        let mut refusals: Vec<Reason> = Vec::new();
        for &(place, what) in &execution.refusals {
            let reason = Reason { site: site(place), other: None, cause: Cause::NotUnderstood(what) };
            if refusals.len() < MOST_REASONS && !refusals.contains(&reason) {
                refusals.push(reason);
            }
        }
        let (mut bounds, mut races) = (refusals.clone(), refusals);
        for record in &execution.records {
            if let Some(reason) = execution.out_of_bounds(record)
                && bounds.len() < MOST_REASONS
                && !bounds.iter().any(|known| known.site == reason.site)
            {
                bounds.push(reason);
            }
        }
        for &place in &execution.bad_barriers {
            let reason = Reason { site: site(place), other: None, cause: Cause::Barrier };
            if races.len() < MOST_REASONS && !races.contains(&reason) {
                races.push(reason);
            }
        }
        let mut condition = None;
        if races.is_empty() {
            let unproved = execution.races();
            races = execution.reasons(&unproved);
            condition = execution.condition(&unproved).filter(|_| !self.has_inlined);
        }
        let touched = execution.touched();
        Footprint { bounds: bounds.into(), races: races.into(), condition, touched, steps: execution.steps }
    }
}
