//! What host code did wrong with memory.

use report::{Finding, Note, Place, Severity, Stack};
use settings::ApiErrors;
use toolkit::HostStack;
use toolkit::objects::{AllocationKind, AtAddress, Described, Freed, Object};

use super::super::findings::within;
use super::MemcheckInstance;

/// An error of which only this is known yet, once.
fn error(code: &str, message: impl Into<String>) -> Finding {
    Finding::new("memcheck", code, Severity::Error, message)
}

fn note(message: impl Into<String>, stack: Option<Stack>) -> Note {
    Note { message: message.into(), stack }
}

impl MemcheckInstance {
    fn host_finding(&self, code: &str, message: &str, notes: Vec<Note>, help: &str) {
        let stack = self.host.stack().frames();
        self.host.found(Finding { notes, help: Some(help.to_owned()), stack: Some(stack), ..error(code, message) });
    }

    /// The program frees what it does not have.
    pub(super) fn on_invalid_free(&self, address: u64) {
        if self.options.api_errors == ApiErrors::No {
            return;
        }
        let objects = self.host.objects();
        let freed = objects.freed_at(address).cloned();
        let inside = objects.pointed_to(address).map(Object::described);
        drop(objects);
        match (freed, inside) {
            (Some(Freed { object, stack, .. }), _) if !object.kind.is_part() => {
                let notes = vec![
                    note("it was allocated here", object.described().stack),
                    note("it was freed here before", Some(stack.frames())),
                ];
                self.host_finding("double-free", "memory is freed a second time", notes, "free each allocation once");
            }
            (_, Some(object)) => {
                let what = if object.start == address {
                    "memory is freed by a function that it does not belong to"
                } else {
                    "a pointer is freed that is not the start of an allocation"
                };
                let message = format!("the pointer is one into {} of {} bytes", object.name, object.bytes);
                let help = "free with the function that belongs to the allocation, and the pointer that it returned";
                self.host_finding("invalid-free", what, vec![note(message, object.stack)], help);
            }
            (_, None) => {
                let help = "free only what cudaMalloc and its relatives returned";
                self.host_finding("invalid-free", "a pointer is freed that was never allocated", Vec::new(), help);
            }
        }
    }

    /// The host copies or fills memory that was freed.
    pub(super) fn on_copy_of_freed(&self, address: u64) {
        let objects = self.host.objects();
        let AtAddress::Freed(object, stack) = objects.at(address, None, || false) else { return };
        drop(objects);
        let notes = vec![note("it was allocated here", object.stack), note("it was freed here", stack)];
        let help = "copy and fill memory only before it is freed";
        self.host_finding("use-after-free", "memory is copied or filled that was freed", notes, help);
    }

    /// The host copies or fills more than an allocation has.
    pub(super) fn on_copy_overrun(&self, address: u64, bytes: u64) {
        if self.options.api_errors == ApiErrors::No {
            return;
        }
        let Some(object) = self.host.objects().pointed_to(address).map(Object::described) else { return };
        self.copy_finding(address, bytes, object);
    }

    /// The host binds more than an allocation has to a texture.
    pub(super) fn on_binding_overrun(&self, address: u64, bytes: u64) {
        let Some(object) = self.host.objects().pointed_to(address).map(Object::described) else { return };
        let offset = address - object.start;
        let message = format!("{bytes} bytes from offset {offset} on, of {} of {} bytes", object.name, object.bytes);
        self.host_finding(
            "invalid-binding",
            "memory past the end of an allocation is bound to a texture",
            vec![note(message, object.stack)],
            "bind as many bytes as the allocation has from there on, or fewer",
        );
    }

    /// The host uses what it has destroyed.
    pub(super) fn on_destroyed_handle(&self, what: &str, destroyed: &HostStack) {
        if self.options.api_errors == ApiErrors::No {
            return;
        }
        let notes = vec![note("it was destroyed here", Some(destroyed.frames()))];
        let help = "destroy it after its last use, and once";
        self.host_finding("destroyed-handle", &format!("{what} is used that was destroyed"), notes, help);
    }

    /// The host copies in a direction that is not that of the pointers.
    pub(super) fn on_wrong_direction(&self, address: u64, is_target: bool, wants_device: bool) {
        if self.options.api_errors == ApiErrors::No {
            return;
        }
        let side = if is_target { "target" } else { "source" };
        let (wanted, is) = if wants_device { ("device", "host") } else { ("host", "device") };
        let object = self.host.objects().pointed_to(address).map(Object::described);
        let what = object.as_ref().map_or_else(
            || format!("the {side} is memory of the {is}"),
            |object| format!("the {side} is in {} of {} bytes", object.name, object.bytes),
        );
        let outcome = if wants_device { "the copy is refused" } else { "a driver may copy it nevertheless" };
        self.host_finding(
            "wrong-direction",
            &format!("the direction of a copy says that its {side} is memory of the {wanted}, which it is not"),
            vec![note(format!("{what}; {outcome}"), object.and_then(|object| object.stack))],
            "give the kind that fits both pointers, or cudaMemcpyDefault",
        );
    }

    /// The host copies memory asynchronously that is not pinned.
    pub(super) fn on_unpinned_copy(&self, is_to_host: bool) {
        if self.options.api_errors == ApiErrors::No {
            return;
        }
        let message = if is_to_host {
            "the call waits until the copy is done, and for all that was asked of the stream before"
        } else {
            "the memory is copied aside before the call returns"
        };
        let finding = Finding {
            notes: vec![note(message, None)],
            help: Some("allocate the memory with cudaMallocHost, or pin it with cudaHostRegister".to_owned()),
            stack: Some(self.host.stack().frames()),
            ..error("unpinned-copy", "an asynchronous copy of host memory that is not pinned")
        };
        self.host.found(Finding { severity: Severity::Warning, ..finding });
    }

    /// The host copies or fills more than was allocated from a heap of its own, which CUDA knows nothing of.
    pub(super) fn on_copy(&self, address: u64, bytes: u64) {
        if self.options.api_errors == ApiErrors::No {
            return;
        }
        let objects = self.host.objects();
        let Some(heap) = objects.heap_around(address, 1) else { return };
        // All of a heap may be filled at once.
        let is_whole = heap.start == address && heap.bytes == bytes;
        let part = objects.pointed_to(address).filter(|part| part.kind.is_part() && !is_whole);
        let Some(part) =
            part.filter(|part| address - part.start < part.bytes && part.start + part.bytes < address + bytes)
        else {
            return;
        };
        let part = part.described();
        drop(objects);
        self.copy_finding(address, bytes, part);
    }

    fn copy_finding(&self, address: u64, bytes: u64, object: Described) {
        let offset = address - object.start;
        let message = format!("{bytes} bytes from offset {offset} on, of {} of {} bytes", object.name, object.bytes);
        self.host.found(Finding {
            object: Some(object.accessed(address, bytes)),
            notes: vec![note(message, object.stack)],
            help: Some("sizes of copies are in bytes: compare them with the size of the allocation".to_owned()),
            stack: Some(self.host.stack().frames()),
            ..error("invalid-copy", "a copy or fill goes past the end of an allocation")
        });
    }

    /// Code of the host accesses memory of the device.
    pub(super) fn on_host_access(&self, address: u64, is_write: bool, stack: &HostStack) {
        let notes = match self.host.objects().at(address, None, || false) {
            AtAddress::Live(object) => vec![note(within(address, &object), object.stack)],
            AtAddress::Freed(object, freed) => {
                vec![note(within(address, &object), object.stack), note("it was freed here", freed)]
            }
            AtAddress::Unused(object, _) | AtAddress::Nothing(Some(object)) => {
                vec![note(within(address, &object), object.stack)]
            }
            AtAddress::Host | AtAddress::Nothing(None) => vec![note(format!("the address is {address:#x}"), None)],
        };
        let what = if is_write { "writes to" } else { "reads" };
        self.host.found(Finding {
            notes,
            help: Some("copy it with cudaMemcpy, or allocate it with cudaMallocManaged".to_owned()),
            stack: Some(stack.frames()),
            ..error("host-access", format!("code of the host {what} memory of the device"))
        });
    }

    /// A kernel frees what kernels have not allocated.
    pub(super) fn on_invalid_free_in_kernel(&self, address: u64, place: &Place) {
        let objects = self.host.objects();
        let was_freed = objects.freed_at(address).is_some();
        let inside = objects.pointed_to(address).map(Object::described);
        drop(objects);
        let notes = inside.map(|object| {
            note(format!("the pointer is one into {} of {} bytes", object.name, object.bytes), object.stack)
        });
        let (code, message) = if was_freed {
            ("device-double-free", "a kernel frees memory a second time")
        } else {
            ("device-invalid-free", "a kernel frees what no kernel has allocated")
        };
        self.host.found(Finding {
            place: Some(place.clone()),
            notes: notes.into_iter().collect(),
            help: Some("free in kernels only what malloc in a kernel returned, and once".to_owned()),
            ..error(code, message)
        });
    }

    /// The process ends: what was allocated and not freed.
    pub(super) fn report_leaks_of_process(&self) {
        let leaks = self.host.objects().leaks();
        self.report_leaks("the program ends", leaks);
    }

    /// A context ends, and takes memory with it: what the program has not freed of that.
    pub(super) fn report_leaks_of_context(&self, taken: &[Object]) {
        let is_taken = |object: &Object| taken.iter().any(|taken| taken.start == object.start);
        let leaks = self.host.objects().leaks().into_iter().filter(is_taken).collect();
        self.report_leaks("its context ends", leaks);
    }

    fn report_leaks(&self, end: &str, leaks: Vec<Object>) {
        if !self.options.leak_check {
            return;
        }
        for object in leaks {
            let described = object.described();
            let (code, place, help) = match &object.kind {
                AllocationKind::Heap(place) => {
                    let help = "free in a kernel what a kernel allocates".to_owned();
                    ("device-heap-leak", Some(Place::clone(place)), help)
                }
                _ => ("leak", None, format!("free it before {end}")),
            };
            let bytes = if described.bytes == 1 { "1 byte".to_owned() } else { format!("{} bytes", described.bytes) };
            let message = format!("{} of {bytes} was never freed", described.name);
            let stack = described.stack;
            self.host.found(Finding { place, help: Some(help), stack, ..error(code, message) });
        }
    }
}
