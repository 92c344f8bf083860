//! Runs every kernel twice, from the same memory, and compares what it leaves behind.
//!
//! A tool for tests: of launch plans, and of kernels that should give the same every time.

use rewrite::{LaunchPlan, Tool};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Twice;

impl Tool for Twice {
    fn name(&self) -> &'static str {
        "twice"
    }

    fn launch(&self, plan: &mut LaunchPlan) {
        plan.runs *= 2;
    }
}
