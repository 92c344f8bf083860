//! What the program does with memory, told to all tools.

use std::sync::Arc;

use device::Program;
use toolkit::{AllocationKind, DeviceAccess, HostEvent, HostStack, Moment, Object, WorkOrder};

use super::{ToolHost, stack};
use crate::process::host_access::HostAccess;
use crate::transfer::{Copy, Fill};

impl ToolHost {
    /// Tells all tools what the program did.
    pub(crate) fn on_event(&self, event: &HostEvent<'_>) {
        for instance in &self.instances {
            instance.on_event(event);
        }
    }

    /// The program has called a function of CUDA.
    pub(crate) fn on_called(&self, function: &'static str, is_supported: bool) {
        if !self.wants_calls {
            return;
        }
        // What compilers insert is not the program's, except for launches.
        let function = if function.starts_with("__cudaLaunchKernel") { "cudaLaunchKernel" } else { function };
        if !function.starts_with("__") {
            self.on_event(&HostEvent::Called { function, is_supported });
        }
    }

    /// A copy has taken place.
    pub(crate) fn on_copied(&self, copy: &Copy, order: Option<&WorkOrder>) {
        let (extent, stack) = (*copy.extent(), copy.stack());
        for (from, to) in copy.from().rows(extent).zip(copy.to().rows(extent)) {
            self.on_event(&HostEvent::Copied { from, to, bytes: extent.width, stack, order });
        }
    }

    /// Memory was filled.
    pub(crate) fn on_filled(&self, fill: &Fill, order: Option<&WorkOrder>) {
        let (extent, stack) = (*fill.extent(), fill.stack());
        for address in fill.to().rows(extent) {
            self.on_event(&HostEvent::Filled { address, bytes: extent.width, stack, order });
        }
    }

    /// A word of memory was written, in a stream.
    pub(crate) fn on_written(&self, address: u64, bytes: u64, order: Option<&WorkOrder>) {
        self.on_event(&HostEvent::Filled { address, bytes, stack: &HostStack::default(), order });
    }

    /// The program's own code accesses device memory.
    pub(super) fn on_host_access(&self, access: &HostAccess) {
        let stack = stack::from_calls(&access.calls);
        let HostAccess { address, is_write, .. } = *access;
        self.on_event(&HostEvent::HostAccess { address, is_write, stack: &stack });
    }

    /// Where the program is, if tools want to know.
    pub(crate) fn stack(&self) -> HostStack {
        if self.wants_stacks { toolkit::Host::stack(&*self.services) } else { HostStack::default() }
    }

    /// What allocations are made larger by.
    pub(crate) fn redzone(&self) -> u64 {
        self.instances.iter().map(|instance| instance.redzone()).max().unwrap_or(0)
    }

    /// Whether a tool finds accesses of kernels to memory that the host has for itself wrong.
    pub(crate) fn forbids_host_memory(&self) -> bool {
        self.instances.iter().any(|instance| instance.forbids_host_memory())
    }

    /// Bytes of the device that the program does not know to be in use.
    pub(crate) fn hidden_bytes(&self) -> u64 {
        self.instances.iter().map(|instance| instance.hidden_bytes()).max().unwrap_or(0)
    }

    /// Gives memory back that was kept, because there is no other; whether there was any.
    pub(crate) fn make_room(&self) -> bool {
        self.instances.iter().fold(false, |had_any, instance| instance.make_room() | had_any)
    }

    /// The variables of a module are there, which these may access. All may access those that are managed, which a sibling
    /// of a module shares with it.
    pub(crate) fn on_load(&self, program: &dyn Program, access: DeviceAccess, is_sibling: bool) {
        let module = program.module();
        let is_managed = |variable: &&ptx::ir::Variable| {
            variable.attributes.iter().any(|&attribute| module.text(attribute).contains(".managed"))
        };
        let managed: Vec<&str> =
            module.globals.values().filter(is_managed).map(|variable| module.text(variable.name)).collect();
        for (name, address, bytes) in program.variables() {
            let is_managed = managed.contains(&name);
            if !(is_managed && is_sibling) {
                let access = if is_managed { DeviceAccess::Every } else { access };
                self.on_alloc(address, bytes, AllocationKind::Variable(name.into()), access);
            }
        }
    }

    /// The variables of a module are gone.
    pub(crate) fn on_unload(&self, program: &dyn Program) {
        for (_, address, _) in program.variables() {
            self.on_unmap(address);
        }
    }

    /// Memory is there that the program may access.
    pub(crate) fn on_alloc(&self, address: u64, bytes: u64, kind: AllocationKind, access: DeviceAccess) {
        let object = Object { access, ..Object::new(address, bytes, kind, self.stack()) };
        self.services.lock_objects().add_object(object.clone());
        self.on_event(&HostEvent::Allocated(&object));
    }

    /// The program allocates memory in a stream for the first time, or once more: from now on the order of work is known.
    pub(crate) fn on_stream_memory(&self) {
        if self.wants_order_of_stream_memory {
            crate::order::track();
        }
    }

    /// Kernels of other devices may access an object from now on.
    pub(crate) fn change_access(&self, start: u64, access: DeviceAccess) {
        self.services.lock_objects().change(start, |object| object.access = access);
    }

    /// Memory is gone, for good.
    pub(crate) fn on_unmap(&self, address: u64) {
        let object = self.services.lock_objects().remove(address);
        if let Some(object) = object {
            self.on_event(&HostEvent::Unmapped(&object));
        }
    }

    /// Memory was given back by the program. Whether the device may have it now: else it is kept for a while, so that late
    /// accesses are found. The stack is that of who asked for it.
    pub(crate) fn on_free(&self, address: u64, stack: &HostStack) -> bool {
        self.on_free_at(address, stack, None)
    }

    /// The same, with the time at which a kernel did it.
    pub(super) fn on_free_at(&self, address: u64, stack: &HostStack, when: Option<Moment>) -> bool {
        let Some(object) = self.services.lock_objects().remove(address) else { return true };
        self.instances.iter().fold(true, |is_free, instance| instance.on_free(&object, stack, when) & is_free)
    }

    /// Whether kernels have allocated what begins at an address.
    pub(super) fn is_heap(&self, address: u64) -> bool {
        self.services.lock_objects().is_heap(address)
    }

    /// The host copies or fills memory. Whether it was freed, which is reported.
    pub(crate) fn copies_freed(&self, address: u64) -> bool {
        let is_freed = self.services.lock_objects().is_freed(address);
        if is_freed {
            self.on_event(&HostEvent::CopyOfFreed { address });
        }
        is_freed
    }

    /// A context ends, and takes memory with it: all objects in ranges that it has.
    pub(crate) fn on_context_end(&self, is_taken: impl Fn(u64) -> bool) {
        let all = self.services.lock_objects().leaks();
        let taken: Vec<Object> = all.into_iter().filter(|object| is_taken(object.start)).collect();
        self.on_event(&HostEvent::ContextEnds { taken: &taken });
    }

    /// The program calls an object by a name.
    pub(crate) fn is_called(&self, start: u64, label: Arc<str>) {
        self.services.lock_objects().change(start, |object| object.label = Some(label));
    }
}
