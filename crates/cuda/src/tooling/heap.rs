//! `malloc` and `free` of kernels, under the eyes of the tools.

use std::sync::{Arc, Mutex, PoisonError};

use device::{Heap, Program};
use report::Place;
use rustc_hash::FxHashMap;
use toolkit::{AllocationKind, DeviceAccess, HostEvent};

use super::launches::{InstrumentedKernel, InstrumentedLaunch, place_of_line};
use super::{ToolHost, get};

/// The memory of the device, for the kernels of one launch.
#[derive(Debug)]
pub(super) struct ToolHeap {
    /// The kernel that uses it, as the compiler names it.
    name: String,
    program: Arc<dyn Program>,
    /// What tools have made of the kernel.
    kernel: Option<Arc<InstrumentedKernel>>,
    /// Where `malloc` and `free` are called, by the line of the PTX.
    places: Mutex<FxHashMap<u32, Arc<Place>>>,
    /// The run that is under way, if tools have rewritten the kernel.
    run: Mutex<Option<Arc<InstrumentedLaunch>>>,
    /// What a launch of several steps has not settled yet.
    pending: Mutex<Option<Pending>>,
}

/// What kernels have done in the runs of a launch, and what may still be undone.
#[derive(Debug, Default)]
struct Pending {
    /// What the last run allocated.
    allocated: Vec<u64>,
    /// What it freed, which is still there.
    freed: Vec<u64>,
}

impl ToolHeap {
    /// For a launch of a kernel, which may have several steps: then what it frees is there until it is over.
    pub(super) fn new(
        name: &str,
        program: &Arc<dyn Program>,
        kernel: Option<&Arc<InstrumentedKernel>>,
        has_steps: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            program: Arc::clone(program),
            kernel: kernel.cloned(),
            places: Mutex::default(),
            run: Mutex::default(),
            pending: Mutex::new(has_steps.then(Pending::default)),
        })
    }

    /// The place of a call.
    fn place(&self, line: u32) -> Arc<Place> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.entry(line).or_insert_with(|| {
            let sites = self.kernel.as_ref().map(|kernel| &kernel.module.sites);
            Arc::new(place_of_line(&*self.program, sites, line, &self.name))
        });
        Arc::clone(place)
    }

    /// A run begins.
    pub(super) fn begin(&self, run: Option<&Arc<InstrumentedLaunch>>) {
        *self.run.lock().unwrap_or_else(PoisonError::into_inner) = run.cloned();
    }

    /// The last run is undone.
    pub(super) fn undo(&self, tool_host: &ToolHost) {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(std::mem::take);
        for address in pending.into_iter().flat_map(|pending| pending.allocated) {
            self.free_now(tool_host, address);
        }
    }

    /// The launch is over.
    pub(super) fn settle(&self, tool_host: &ToolHost) {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner).take();
        for address in pending.into_iter().flat_map(|pending| pending.freed) {
            self.free_now(tool_host, address);
        }
    }

    fn free_now(&self, tool_host: &ToolHost, address: u64) {
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if tool_host.on_free_at(address, &tool_host.stack(), run.map(|run| run.now())) {
            tool_host.services.device.memory().free(address);
        }
    }
}

impl Heap for ToolHeap {
    fn allocate(&self, bytes: u64, line: u32) -> u64 {
        let Some(tool_host) = get() else { return 0 };
        let Some(all) = bytes.checked_add(tool_host.redzone()) else { return 0 };
        let address = tool_host.services.device.memory().allocate(all, 16).unwrap_or(0);
        if address != 0 {
            tool_host.on_alloc(address, bytes, AllocationKind::Heap(self.place(line)), DeviceAccess::Every);
            // At no line is what the device allocates for the launch, and fills.
            if line == 0 {
                tool_host.on_written(address, bytes, None);
            }
            if let Some(pending) = &mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner) {
                pending.allocated.push(address);
            }
        }
        address
    }

    fn free(&self, address: u64, line: u32) {
        let Some(tool_host) = get() else { return };
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let is_freed = pending.as_ref().is_some_and(|pending| pending.freed.contains(&address));
        if is_freed || !tool_host.is_heap(address) {
            drop(pending);
            tool_host.on_event(&HostEvent::InvalidFreeInKernel { address, place: &self.place(line) });
        } else if let Some(pending) = &mut *pending {
            pending.freed.push(address);
        } else {
            drop(pending);
            self.free_now(tool_host, address);
        }
    }
}
