//! What host code did wrong with memory.

use tools::memcheck;

use report::{Finding, Note, Place, Severity, Stack};
use settings::ApiErrors;

use super::objects::{AllocationKind, Freed, Object};
use super::{HostStack, ToolHost};

/// A place of which only the kernel is known.
pub(super) fn whole_kernel(kernel: &str) -> Place {
    Place { kernel: kernel.to_owned(), instruction: String::new(), instruction_line: 0, lines: Vec::new() }
}

/// An error of which only this is known yet, once.
pub(super) fn error(code: &str, message: impl Into<String>) -> Finding {
    Finding {
        tool: "memcheck".to_owned(),
        code: code.to_owned(),
        severity: Severity::Error,
        message: message.into(),
        place: None,
        first: None,
        count: 1,
        notes: Vec::new(),
        help: None,
        stack: None,
    }
}

fn note(message: impl Into<String>, stack: Option<Stack>) -> Note {
    Note { message: message.into(), stack }
}

impl ToolHost {
    fn host_finding(&self, code: &str, message: &str, notes: Vec<Note>, help: &str) {
        let stack = HostStack::capture(self.settings.callers).frames();
        self.found(Finding { notes, help: Some(help.to_owned()), stack: Some(stack), ..error(code, message) });
    }

    /// The program frees what it does not have.
    pub(crate) fn on_invalid_free(&self, address: u64) {
        if self.shadow.is_none() || self.settings.api_errors == ApiErrors::No {
            return;
        }
        let objects = self.objects();
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

    /// The host copies or fills memory. Whether it was freed, which is reported.
    pub(crate) fn on_copy_after_free(&self, address: u64) -> bool {
        if self.shadow.is_none() {
            return false;
        }
        let objects = self.objects();
        // Who allocates from a heap of his own may do with it what he likes.
        if objects.heap_around(address, 1).is_some() {
            return false;
        }
        let memcheck::Memory::Freed(object, stack) = objects.at(address, true, None) else { return false };
        drop(objects);
        let notes = vec![note("it was allocated here", object.stack), note("it was freed here", stack)];
        let help = "copy and fill memory only before it is freed";
        self.host_finding("use-after-free", "memory is copied or filled that was freed", notes, help);
        true
    }

    /// The host copies or fills more than an allocation has.
    pub(crate) fn on_copy_overrun(&self, address: u64, bytes: u64) {
        if self.shadow.is_none() || self.settings.api_errors == ApiErrors::No {
            return;
        }
        let Some(object) = self.objects().pointed_to(address).map(Object::described) else { return };
        self.copy_finding(address, bytes, object);
    }

    /// The host copies or fills more than was allocated from a heap of its own, which CUDA knows nothing of.
    pub(crate) fn copies_past_part(&self, address: u64, bytes: u64) {
        if self.shadow.is_none() || self.settings.api_errors == ApiErrors::No {
            return;
        }
        let objects = self.objects();
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

    fn copy_finding(&self, address: u64, bytes: u64, object: memcheck::Object) {
        let offset = address - object.start;
        let message = format!("{bytes} bytes from offset {offset} on, of {} of {} bytes", object.name, object.bytes);
        let help = "sizes of copies are in bytes: compare them with the size of the allocation";
        self.host_finding(
            "invalid-copy",
            "a copy or fill goes past the end of an allocation",
            vec![note(message, object.stack)],
            help,
        );
    }

    /// A kernel frees what kernels have not allocated.
    pub(super) fn on_invalid_free_in_kernel(&self, address: u64, kernel: &str) {
        let objects = self.objects();
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
        self.found(Finding {
            place: Some(whole_kernel(kernel)),
            notes: notes.into_iter().collect(),
            help: Some("free in kernels only what malloc in a kernel returned, and once".to_owned()),
            ..error(code, message)
        });
    }

    /// The process ends: what was allocated and not freed.
    pub(super) fn report_leaks_of_process(&self) {
        self.report_leaks("the program ends", |_| true);
    }

    /// A context ends, and takes memory with it: what the program has not freed of that.
    pub(crate) fn report_leaks_of_context(&self, is_taken: impl Fn(u64) -> bool) {
        self.report_leaks("its context ends", |object| is_taken(object.start));
    }

    fn report_leaks(&self, end: &str, is_lost: impl Fn(&Object) -> bool) {
        // Only memcheck keeps what is needed to say who allocated it.
        if !self.settings.leak_check || self.shadow.is_none() {
            return;
        }
        let mut leaks = self.objects().leaks();
        leaks.retain(is_lost);
        for object in leaks {
            let described = object.described();
            let (code, place, help) = match &object.kind {
                AllocationKind::Heap(kernel) => {
                    let help = "free in a kernel what a kernel allocates".to_owned();
                    ("device-heap-leak", Some(whole_kernel(kernel)), help)
                }
                _ => ("leak", None, format!("free it before {end}")),
            };
            let bytes = if described.bytes == 1 { "1 byte".to_owned() } else { format!("{} bytes", described.bytes) };
            let message = format!("{} of {bytes} was never freed", described.name);
            let stack = described.stack;
            self.found(Finding { place, help: Some(help), stack, ..error(code, message) });
        }
    }
}
