//! Tells what is known of the launches of a program before they run: what `warpgrind prove ./app` prints.
//!
//! Nothing is inserted into kernels. For every launch, its [footprint](ptx::analysis::footprint) answers two questions: is
//! it in bounds, and is it free of races. Launches that streams leave unordered are compared with each other, by the bytes
//! that each may touch. Memory is laid out as under memcheck, with redzones and a quarantine, so that the end of one object
//! is not the beginning of another, and a pointer to freed memory proves nothing.

mod launches;

use std::sync::{Arc, Mutex, PoisonError};

use report::{Cell, Row};
use rewrite::{Instrumentation, Refusal};
use toolkit::objects::{Moment, Object};
use toolkit::{Host, HostStack, Instance, LaunchView, Options, Tool, quarantine};

use launches::{Launches, Shape};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Proofs;

impl Instrumentation for Proofs {
    fn name(&self) -> &'static str {
        "proofs"
    }

    fn is_plain(&self, _version: usize) -> bool {
        true
    }
}

impl Tool for Proofs {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Proofs
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program and tells what is known of its launches before they run"
    }

    fn is_hidden(&self) -> bool {
        true
    }

    fn start(&self, _: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(ProofsInstance { host: Arc::clone(host), launches: Mutex::default() }))
    }
}

/// The tool in a process.
#[derive(Debug)]
struct ProofsInstance {
    host: Arc<dyn Host>,
    launches: Mutex<Launches>,
}

impl Instance for ProofsInstance {
    fn redzone(&self) -> u64 {
        quarantine::REDZONE
    }

    fn wants_order(&self) -> bool {
        true
    }

    fn on_free(&self, object: &Object, stack: &HostStack, when: Option<Moment>) -> bool {
        let mut objects = self.host.objects();
        quarantine::keep(self.host.memory(), &mut objects, object.clone(), stack.clone(), when);
        false
    }

    fn make_room(&self) -> bool {
        quarantine::empty(&*self.host)
    }

    fn hidden_bytes(&self) -> u64 {
        self.host.objects().hidden_bytes(quarantine::REDZONE)
    }

    fn on_launch(&self, launch: &LaunchView<'_>) {
        let Some(proofs) = launch.proofs else { return };
        let (footprint, objects) = proofs.footprint(&launch.shape, launch.params, launch.device, &self.host.objects());
        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        launches.add(launch, &footprint, &objects);
    }

    fn choose(&self, launch: &LaunchView<'_>) -> Result<usize, Refusal> {
        match launch.proofs {
            Some(_) => Ok(0),
            None => {
                Err(Refusal::new("proofs", "not-read", "it calls functions through pointers, which are not followed"))
            }
        }
    }

    fn finish(&self) {
        let launches = std::mem::take(&mut *self.launches.lock().unwrap_or_else(PoisonError::into_inner));
        for (shape, group) in launches.groups() {
            let row = shape.columns("launches").with("bounds", Cell::Number(group.bounds.into()));
            let row = row.with("races", Cell::Number(group.races.into()));
            self.host.row(row.with("launches", Cell::Count(group.launches)));
            for reason in &group.reasons {
                let text = |text: &str| Cell::Text(text.to_owned());
                let row = shape.columns("reasons").with("question", text(reason.question));
                let row = row.with("text", text(&reason.text)).with("instruction", text(&reason.instruction));
                let row = row.with("ptx_line", Cell::Number(reason.ptx_line.into()));
                let (file, line) = reason.source.clone().unwrap_or_default();
                self.host.row(row.with("file", text(&file)).with("line", Cell::Number(line.into())));
            }
        }
    }
}

impl Shape {
    /// A row of a table with the columns that say which launches it is of.
    fn columns(&self, table: &str) -> Row {
        let extents = |[x, y, z]: [u32; 3]| Cell::Text(format!("{x}x{y}x{z}"));
        Row::new("proofs", table)
            .with("kernel", Cell::Text(self.kernel.clone()))
            .with("grid", extents(self.grid))
            .with("block", extents(self.block))
            .with("shared", Cell::Number(self.dynamic_shared.into()))
            .with("objects", Cell::Text(self.objects.clone()))
    }
}
