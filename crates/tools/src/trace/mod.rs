//! Counts how often each access to memory is executed, by the threads that execute it.
//!
//! The smallest tool that does something on the device, to copy for a new one.

use std::sync::{Arc, Mutex, PoisonError};

use report::{Cell, Row, demangled};
use rewrite::{Access, Cursor, Instrumentation};
use toolkit::{Host, Instance, Options, SiteCount, Tool};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Trace;

impl Instrumentation for Trace {
    fn name(&self) -> &'static str {
        "trace"
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        at.count(access, at.guard());
    }
}

impl Tool for Trace {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Trace
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program and counts its accesses to memory, instruction by instruction"
    }

    fn is_hidden(&self) -> bool {
        true
    }

    fn start(&self, _: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(TraceInstance { host: Arc::clone(host), rows: Mutex::default() }))
    }
}

/// The tool in a process.
#[derive(Debug)]
struct TraceInstance {
    host: Arc<dyn Host>,
    rows: Mutex<Vec<Row>>,
}

impl Instance for TraceInstance {
    fn on_counts(&self, counts: &[SiteCount<'_>]) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.extend(counts.iter().map(|SiteCount { place, count, .. }| {
            let line = place.lines.first();
            Row::new("trace", "instructions")
                .with("function", Cell::Text(demangled(&place.kernel)))
                .with("instruction", Cell::Text(place.instruction.clone()))
                .with("instruction_line", Cell::Number(place.instruction_line.into()))
                .with("file", Cell::Text(line.map_or_else(String::new, |line| line.file.clone())))
                .with("line", Cell::Number(line.map_or(0, |line| line.line.into())))
                .with("count", Cell::Count(*count))
        }));
    }

    fn finish(&self) {
        for row in std::mem::take(&mut *self.rows.lock().unwrap_or_else(PoisonError::into_inner)) {
            self.host.row(row);
        }
    }
}
