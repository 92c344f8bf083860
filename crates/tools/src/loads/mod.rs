//! Counts how often threads load from global memory, by source line.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ptx::types::Space;
use ptx::view::{AccessKind, AccessSpace};
use report::{Cell, Row};
use rewrite::{Access, Cursor, Instrumentation};
use toolkit::{Host, Instance, Options, SiteCount, Tool};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Loads;

impl Instrumentation for Loads {
    fn name(&self) -> &'static str {
        "loads"
    }

    fn access(&self, at: &mut Cursor<'_, '_>, access: &Access) {
        if access.access.kind != AccessKind::Read || access.is_collective {
            return;
        }
        match access.access.space {
            AccessSpace::State(Space::Global) => _ = at.count(access, at.guard()),
            AccessSpace::Generic => {
                // Only where the address is one of global memory.
                let address = at.address(access);
                let in_global = at.in_space("isspacep.global", address, at.guard());
                at.count(access, Some(in_global));
            }
            _ => {}
        }
    }
}

impl Tool for Loads {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Loads
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program and counts its loads from global memory, line by line"
    }

    fn is_hidden(&self) -> bool {
        true
    }

    fn start(&self, _: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(LoadsInstance { host: Arc::clone(host), lines: Mutex::default() }))
    }
}

/// The tool in a process.
#[derive(Debug)]
struct LoadsInstance {
    host: Arc<dyn Host>,
    /// Loads of each line of each file; line 0 of no file for code without line information.
    lines: Mutex<BTreeMap<(String, u32), u64>>,
}

impl Instance for LoadsInstance {
    fn on_counts(&self, counts: &[SiteCount<'_>]) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        for SiteCount { place, count, .. } in counts {
            let line = place.lines.first().map_or_else(Default::default, |line| (line.file.clone(), line.line));
            let loads = lines.entry(line).or_default();
            *loads = loads.saturating_add(*count);
        }
    }

    fn finish(&self) {
        for ((file, line), loads) in std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner)) {
            let row = Row::new("loads", "lines").with("file", Cell::Text(file)).with("line", Cell::Number(line.into()));
            self.host.row(row.with("loads", Cell::Count(loads)));
        }
    }
}
