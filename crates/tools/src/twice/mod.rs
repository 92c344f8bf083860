//! Runs every kernel twice, from the same memory, and compares what it leaves behind.
//!
//! A tool for tests: of launch plans, and of kernels that should give the same every time.

use std::sync::Arc;

use ptx::ops::Effect;
use report::{Explanation, Finding, Note, Place, Severity};
use rewrite::{Class, Instrumentation, KernelView, Refusal};
use toolkit::{Host, HostStack, Instance, LaunchView, Options, Outcome, Plan, RunStep, Step, Tool, quarantine};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Twice;

impl Instrumentation for Twice {
    fn name(&self) -> &'static str {
        "twice"
    }

    fn class(&self) -> Class {
        Class::Change
    }

    fn versions(&self, kernel: &KernelView<'_>) -> Result<Vec<&'static str>, Refusal> {
        if kernel.instructions().any(|view| view.effect() == Some(Effect::SurfaceStore)) {
            let reason = "it writes to a surface, which cannot be saved and restored";
            return Err(Refusal::new("twice", "surface", reason));
        }
        Ok(vec![""])
    }
}

impl Tool for Twice {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Twice
    }

    fn about(&self) -> &'static str {
        "Runs every kernel of a CUDA program twice and compares the results: for tests of tools"
    }

    fn is_hidden(&self) -> bool {
        true
    }

    fn explanations(&self) -> &'static [Explanation] {
        &[NOT_REPEATABLE]
    }

    fn start(&self, _: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(TwiceInstance { host: Arc::clone(host) }))
    }
}

/// What its finding means.
const NOT_REPEATABLE: Explanation = Explanation {
    tool: Some("twice"),
    code: "not-repeatable",
    title: "a kernel that leaves other results behind when it is run again",
    text: include_str!("not-repeatable.md"),
};

/// The tool in a process.
#[derive(Debug)]
struct TwiceInstance {
    host: Arc<dyn Host>,
}

impl Instance for TwiceInstance {
    /// So that the end of one object, which a pointer into it may be, is not the start of another.
    fn redzone(&self) -> u64 {
        quarantine::REDZONE
    }

    fn wants_stacks(&self) -> bool {
        true
    }

    fn plan(&self, launch: &LaunchView<'_>) -> Option<Box<dyn Plan>> {
        Some(Box::new(TwicePlan {
            host: Arc::clone(&self.host),
            kernel: launch.kernel.to_owned(),
            stack: launch.stack.clone(),
            steps: vec![Step::Save, Step::Run(run()), Step::RunFromSaved(run()), Step::Compare].into_iter(),
        }))
    }
}

fn run() -> RunStep {
    RunStep::version(0)
}

/// A launch that runs twice: from what was saved, both times.
#[derive(Debug)]
struct TwicePlan {
    host: Arc<dyn Host>,
    kernel: String,
    stack: HostStack,
    steps: std::vec::IntoIter<Step>,
}

impl Plan for TwicePlan {
    fn next(&mut self, last: &Outcome) -> Step {
        if let Outcome::Differs { object, offset, .. } = last {
            self.report(object, *offset);
        }
        self.steps.next().unwrap_or(Step::Done)
    }
}

impl TwicePlan {
    fn report(&self, object: &str, offset: u64) {
        let message = "a kernel left other results behind when it was run again";
        self.host.found(Finding {
            place: Some(Place::of_kernel(&self.kernel)),
            notes: vec![Note { message: format!("run 2 differs at offset {offset} of {object}"), stack: None }],
            help: Some("threads may race, or the order of floating-point additions may differ".to_owned()),
            stack: Some(self.stack.frames()),
            ..Finding::new("twice", "not-repeatable", Severity::Warning, message)
        });
    }
}
