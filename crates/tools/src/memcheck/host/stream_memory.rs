//! Memory that is allocated and freed in streams (`cudaMallocAsync`): it is there for work that comes after the allocation and
//! before the free, in the order that streams and events say.
//!
//! Here the memory is there from the call on, and what frees it takes its time, so work that is not ordered mostly runs well.
//! On a GPU it may not. A launch uses what a pointer among its parameters points into, if the kernel has an access through it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use report::{Finding, Note, Severity, Stack, demangled};
use toolkit::objects::Described;
use toolkit::{HostStack, LaunchView, WorkId, WorkOrder};

/// What is known of such memory.
#[derive(Debug, Default)]
pub(super) struct StreamMemory {
    objects: Mutex<BTreeMap<u64, StreamObject>>,
    /// Which uses were reported: a launch in a loop is one.
    reported: Mutex<BTreeSet<String>>,
}

/// An allocation in a stream. It stays known after it was freed, until its addresses are used again.
#[derive(Debug)]
struct StreamObject {
    bytes: u64,
    described: Described,
    allocated: WorkId,
    /// The last of each queue.
    uses: Vec<Use>,
    freed: Option<(WorkOrder, HostStack)>,
}

/// Work that uses memory.
#[derive(Clone, Debug)]
pub(super) struct Use {
    order: WorkOrder,
    /// "the kernel `k`", "a copy".
    what: String,
    stack: HostStack,
}

/// Uses of more queues than this are not remembered, nor more allocations that were freed.
const MOST_USES: usize = 64;
const MOST_OBJECTS: usize = 4096;

impl Use {
    pub(super) fn new(order: &WorkOrder, what: &str, stack: &HostStack) -> Self {
        Self { order: order.clone(), what: what.to_owned(), stack: stack.clone() }
    }

    pub(super) fn of_launch(launch: &LaunchView<'_>) -> Option<Self> {
        Some(Self::new(launch.order?, &format!("the kernel `{}`", demangled(launch.kernel)), launch.stack))
    }
}

/// How work and memory are out of order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Missing {
    /// The work does not come after the allocation.
    Allocation,
    /// The work comes neither before the free nor after it.
    Free,
}

impl StreamMemory {
    fn objects(&self) -> MutexGuard<'_, BTreeMap<u64, StreamObject>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Addresses are used anew.
    pub(super) fn on_allocated(&self, start: u64, bytes: u64) {
        let mut objects = self.objects();
        if objects.is_empty() {
            return;
        }
        let end = start.saturating_add(bytes.max(1));
        let overlapping: Vec<u64> = objects
            .range(..end)
            .rev()
            .take_while(|(at, object)| *at + object.bytes > start)
            .map(|(&at, _)| at)
            .collect();
        for at in overlapping {
            objects.remove(&at);
        }
    }

    /// Memory was allocated in a stream.
    pub(super) fn on_stream_allocated(&self, described: Described, order: &WorkOrder) {
        let mut objects = self.objects();
        if objects.len() >= MOST_OBJECTS {
            objects.retain(|_, object| object.freed.is_none());
        }
        if objects.len() < MOST_OBJECTS {
            let (start, bytes) = (described.start, described.bytes);
            let object = StreamObject { bytes, described, allocated: order.id, uses: Vec::new(), freed: None };
            objects.insert(start, object);
        }
    }

    /// Work uses memory at an address. What is reported of it.
    pub(super) fn on_use(&self, address: u64, used: &Use) -> Option<Finding> {
        let mut objects = self.objects();
        let (start, object) = objects.range_mut(..=address).next_back()?;
        if address - start >= object.bytes.max(1) {
            return None;
        }
        let is_new = object.uses.iter().all(|other| other.order.id.queue != used.order.id.queue);
        object.uses.retain(|other| other.order.id.queue != used.order.id.queue);
        if !is_new || object.uses.len() < MOST_USES {
            object.uses.push(used.clone());
        }
        let missing = match &object.freed {
            _ if !used.order.before.contains(object.allocated) => Missing::Allocation,
            Some((freed, _)) if !freed.before.contains(used.order.id) && !used.order.before.contains(freed.id) => {
                Missing::Free
            }
            _ => return None,
        };
        self.finding(object, used, missing)
    }

    /// Memory is to be freed in a stream. What is reported of work that may still use it.
    pub(super) fn on_stream_freed(&self, start: u64, order: &WorkOrder, stack: &HostStack) -> Vec<Finding> {
        let mut objects = self.objects();
        let Some(object) = objects.get_mut(&start).filter(|object| object.freed.is_none()) else { return Vec::new() };
        object.freed = Some((order.clone(), stack.clone()));
        let object = &*object;
        let mut found = Vec::new();
        if !order.before.contains(object.allocated) {
            found.extend(self.finding(object, &Use::new(order, "what frees it", stack), Missing::Allocation));
        }
        let unordered = object.uses.iter().filter(|used| !order.before.contains(used.order.id));
        found.extend(unordered.filter_map(|used| self.finding(object, used, Missing::Free)));
        found
    }

    /// What is reported of a use, once for each place.
    fn finding(&self, object: &StreamObject, used: &Use, missing: Missing) -> Option<Finding> {
        let stack: Stack = used.stack.frames();
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if !reported.insert(format!("{missing:?} {} {stack:?}", used.what)) {
            return None;
        }
        let Described { name, bytes, stack: allocated, .. } = &object.described;
        let mut notes = vec![Note {
            message: format!("{name} of {bytes} bytes, allocated in a stream here"),
            stack: allocated.clone(),
        }];
        let (message, help) = match missing {
            Missing::Allocation => (
                format!("{} does not wait for the allocation of its memory in another stream", used.what),
                "record an event after cudaMallocAsync, and let the other stream wait for it with cudaStreamWaitEvent",
            ),
            Missing::Free => {
                let freed = object.freed.as_ref().map(|(_, stack)| stack.frames());
                notes.push(Note { message: "it is freed in a stream here".to_owned(), stack: freed });
                (
                    format!("{} may run after its memory is freed in another stream", used.what),
                    "record an event after the work, and let the stream wait for it before cudaFreeAsync",
                )
            }
        };
        Some(Finding {
            notes,
            help: Some(help.to_owned()),
            stack: Some(stack),
            ..Finding::new("memcheck", "unordered-use", Severity::Error, message)
        })
    }
}
