//! Launches as tools want them: other grids, and several runs from the same memory.

use report::{Finding, Note, Severity};
use rewrite::LaunchPlan;

use super::host_errors::whole_kernel;
use super::{HostStack, ToolHost};
use crate::launch_shape::LaunchShape;

/// What is in all objects of the program.
#[derive(Debug)]
struct Snapshot {
    contents: Vec<(u64, Vec<u8>)>,
}

impl ToolHost {
    /// How a launch takes place.
    pub(crate) fn plan(&self, shape: &LaunchShape) -> LaunchPlan {
        let mut plan = shape.plan();
        for tool in &self.tools {
            tool.launch(&mut plan);
        }
        plan
    }

    /// Runs a launch as often as a plan says, from the same memory each time, and reports if it does not leave the same
    /// behind. Ends with the first run that fails.
    pub(crate) fn run<E>(
        &self,
        plan: &LaunchPlan,
        name: &str,
        stack: &HostStack,
        mut launch: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        if plan.runs == 1 {
            return launch();
        }
        let before = self.snapshot();
        launch()?;
        for run in 2..=plan.runs {
            let first = self.snapshot();
            self.restore(&before);
            launch()?;
            if let Some((address, object)) = self.difference(&first) {
                self.found(Finding {
                    tool: "twice".to_owned(),
                    code: "not-repeatable".to_owned(),
                    severity: Severity::Warning,
                    message: "a kernel left other results behind when it was run again".to_owned(),
                    place: Some(whole_kernel(name)),
                    first: None,
                    count: 1,
                    notes: vec![Note {
                        message: format!("run {run} differs at offset {} of {object}", address),
                        stack: None,
                    }],
                    help: Some("threads may race, or the order of floating-point additions may differ".to_owned()),
                    stack: Some(stack.frames()),
                });
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let objects = self.objects().all();
        let contents = objects.into_iter().filter_map(|(start, bytes, _)| {
            let mut content = vec![0; bytes as usize];
            self.device.memory().read(start, &mut content).then_some((start, content))
        });
        Snapshot { contents: contents.collect() }
    }

    fn restore(&self, snapshot: &Snapshot) {
        for (start, content) in &snapshot.contents {
            self.device.memory().write(*start, content);
        }
    }

    /// The first byte that is not as it was: its offset, and in which object.
    fn difference(&self, snapshot: &Snapshot) -> Option<(usize, String)> {
        let objects = self.objects().all();
        snapshot.contents.iter().find_map(|(start, before)| {
            let mut content = vec![0; before.len()];
            let is_there = self.device.memory().read(*start, &mut content);
            let at = content.iter().zip(before).position(|(now, before)| now != before).filter(|_| is_there)?;
            let name = objects.iter().find(|(other, ..)| other == start).map(|(.., name)| name.clone())?;
            Some((at, name))
        })
    }
}
