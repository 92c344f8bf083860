//! What host code did wrong with memory.

use tools::memcheck;

use report::{Finding, Note, Place, Severity};

use super::objects::{Object, What};
use super::settings::ApiErrors;
use super::{Checker, HostStack};

/// A place of which only the kernel is known.
pub(super) fn whole_kernel(kernel: &str) -> Place {
    Place { kernel: kernel.to_owned(), instruction: String::new(), instruction_line: 0, lines: Vec::new() }
}

impl Checker {
    fn host_finding(&self, code: &str, message: String, notes: Vec<Note>, help: &str) {
        let stack = HostStack::capture(self.settings.callers).frames();
        self.found(Finding {
            tool: "memcheck".to_owned(),
            code: code.to_owned(),
            severity: Severity::Error,
            message,
            place: None,
            first: None,
            count: 1,
            notes,
            help: Some(help.to_owned()),
            stack: Some(stack),
        });
    }

    /// The program frees what it does not have.
    pub(crate) fn freed_nothing(&self, address: u64) {
        if self.shadow.is_none() || self.settings.api_errors == ApiErrors::No {
            return;
        }
        let objects = self.objects();
        let freed = objects.freed_at(address).cloned();
        let inside = objects.pointed_to(address).map(Object::described);
        drop(objects);
        match (freed, inside) {
            (Some((object, stack)), _) => {
                let note = |message: &str, stack| Note { message: message.to_owned(), stack };
                let notes = vec![
                    note("it was allocated here", object.described().stack),
                    note("it was freed here before", Some(stack.frames())),
                ];
                self.host_finding(
                    "double-free",
                    "memory is freed a second time".to_owned(),
                    notes,
                    "free each allocation once",
                );
            }
            (None, Some(object)) => {
                let what = if object.start == address {
                    "memory is freed by a function that it does not belong to"
                } else {
                    "a pointer is freed that is not the start of an allocation"
                };
                let message = format!("the pointer is one into {} of {} bytes", object.name, object.bytes);
                let note = Note { message, stack: object.stack };
                let help = "free with the function that belongs to the allocation, and the pointer that it returned";
                self.host_finding("invalid-free", what.to_owned(), vec![note], help);
            }
            (None, None) => {
                let help = "free only what cudaMalloc and its relatives returned";
                self.host_finding(
                    "invalid-free",
                    "a pointer is freed that was never allocated".to_owned(),
                    Vec::new(),
                    help,
                );
            }
        }
    }

    /// The host copies or fills memory. Whether it was freed, which is reported.
    pub(crate) fn copies_freed(&self, address: u64) -> bool {
        if self.shadow.is_none() {
            return false;
        }
        let memory = self.objects().at(address, true);
        let memcheck::Memory::Freed(object, stack) = memory else { return false };
        let note = |message: &str, stack| Note { message: message.to_owned(), stack };
        let notes = vec![note("it was allocated here", object.stack), note("it was freed here", stack)];
        let help = "copy and fill memory only before it is freed";
        self.host_finding("use-after-free", "memory is copied or filled that was freed".to_owned(), notes, help);
        true
    }

    /// The host copies or fills more than an allocation has.
    pub(crate) fn copies_past(&self, address: u64, bytes: u64) {
        if self.shadow.is_none() || self.settings.api_errors == ApiErrors::No {
            return;
        }
        let Some(object) = self.objects().pointed_to(address).map(Object::described) else { return };
        let offset = address - object.start;
        let message = format!("{bytes} bytes from offset {offset} on, of {} of {} bytes", object.name, object.bytes);
        let note = Note { message, stack: object.stack };
        let help = "sizes of copies are in bytes: compare them with the size of the allocation";
        self.host_finding(
            "invalid-copy",
            "a copy or fill goes past the end of an allocation".to_owned(),
            vec![note],
            help,
        );
    }

    /// A kernel frees what kernels have not allocated.
    pub(super) fn freed_nothing_in_kernel(&self, address: u64, kernel: &str) {
        let objects = self.objects();
        let was_freed = objects.freed_at(address).is_some();
        let inside = objects.pointed_to(address).map(Object::described);
        drop(objects);
        let note = inside.map(|object| Note {
            message: format!("the pointer is one into {} of {} bytes", object.name, object.bytes),
            stack: object.stack,
        });
        let (code, message) = if was_freed {
            ("device-double-free", "a kernel frees memory a second time")
        } else {
            ("device-invalid-free", "a kernel frees what no kernel has allocated")
        };
        self.found(Finding {
            tool: "memcheck".to_owned(),
            code: code.to_owned(),
            severity: Severity::Error,
            message: message.to_owned(),
            place: Some(whole_kernel(kernel)),
            first: None,
            count: 1,
            notes: note.into_iter().collect(),
            help: Some("free in kernels only what malloc in a kernel returned, and once".to_owned()),
            stack: None,
        });
    }

    /// What was allocated and not freed when the process ends.
    pub(super) fn report_leaks(&self) {
        let leaks = self.objects().leaks();
        for object in leaks {
            let described = object.described();
            let place = match &object.what {
                What::Heap(kernel) => Some(whole_kernel(kernel)),
                _ => None,
            };
            let by_kernel = place.is_some();
            let code = if by_kernel { "device-heap-leak" } else { "leak" };
            self.found(Finding {
                tool: "memcheck".to_owned(),
                code: code.to_owned(),
                severity: Severity::Error,
                message: format!("{} of {} bytes was never freed", described.name, described.bytes),
                place,
                first: None,
                count: 1,
                notes: Vec::new(),
                help: Some(
                    if by_kernel {
                        "free in a kernel what a kernel allocates"
                    } else {
                        "free it before the program ends"
                    }
                    .to_owned(),
                ),
                stack: described.stack,
            });
        }
    }
}
