//! Tells which kernels the streams of a program leave unordered.
//!
//! A tool for tests: of the order that launches have by streams, events, graphs and waits of the host.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use report::{Cell, Row, demangled};
use rewrite::Instrumentation;
use toolkit::{Host, Instance, LaunchView, Options, Tool, WorkId};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub struct Order;

impl Instrumentation for Order {
    fn name(&self) -> &'static str {
        "order"
    }
}

impl Tool for Order {
    fn instrumentation(&self) -> &'static dyn Instrumentation {
        &Order
    }

    fn about(&self) -> &'static str {
        "Runs a CUDA program and tells which kernels its streams leave unordered"
    }

    fn is_hidden(&self) -> bool {
        true
    }

    fn start(&self, _: &Options, host: &Arc<dyn Host>) -> Result<Box<dyn Instance>, String> {
        Ok(Box::new(OrderInstance { host: Arc::clone(host), launches: Mutex::default() }))
    }
}

/// The tool in a process.
#[derive(Debug)]
struct OrderInstance {
    host: Arc<dyn Host>,
    launches: Mutex<Launches>,
}

#[derive(Debug, Default)]
struct Launches {
    /// The last ones.
    last: VecDeque<(WorkId, String)>,
    /// How many launches of two kernels are unordered.
    unordered: BTreeMap<[String; 2], u64>,
}

/// A launch is compared with so many before it.
const MOST_LAUNCHES: usize = 1000;

impl Instance for OrderInstance {
    fn wants_order(&self) -> bool {
        true
    }

    fn on_launch(&self, launch: &LaunchView<'_>) {
        let Some(order) = launch.order else { return };
        let kernel = demangled(launch.kernel);
        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        let Launches { last, unordered } = &mut *launches;
        for (other, of_other) in last.iter().filter(|(other, _)| !order.before.contains(*other)) {
            // One that was asked for earlier may begin later; nothing that begins later is before one that has begun.
            debug_assert_ne!(*other, order.id);
            let mut both = [kernel.clone(), of_other.clone()];
            both.sort();
            *unordered.entry(both).or_default() += 1;
        }
        if last.len() == MOST_LAUNCHES {
            last.pop_front();
        }
        last.push_back((order.id, kernel));
    }

    fn finish(&self) {
        let launches = std::mem::take(&mut *self.launches.lock().unwrap_or_else(PoisonError::into_inner));
        for ([kernel, other], count) in launches.unordered {
            let row =
                Row::new("order", "unordered").with("kernel", Cell::Text(kernel)).with("other", Cell::Text(other));
            self.host.row(row.with("pairs", Cell::Count(count)));
        }
    }
}
