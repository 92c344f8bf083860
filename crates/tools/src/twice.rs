//! Runs every kernel twice, from the same memory, and compares what it leaves behind.
//!
//! A tool for tests: of launch plans, and of kernels that should give the same every time.

use report::Explanation;
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

/// What its finding means.
pub(crate) const NOT_REPEATABLE: Explanation = Explanation {
    tool: Some("twice"),
    code: "not-repeatable",
    title: "a kernel that leaves other results behind when it is run again",
    text: include_str!("not-repeatable.md"),
};
