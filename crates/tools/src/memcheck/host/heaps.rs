//! Heaps of the program's own: it has one large allocation, gives parts of it to itself, and says so through NVTX.
//!
//! What is allocated from a heap is an object like any other, so that everything finds it: the bounds of pointers, the
//! shadow, reports, leaks. The rest of the heap cannot be accessed. The allocation that a heap is in is set aside as long
//! as it has one ([`Objects::add_heap`](toolkit::Objects::add_heap)).
//!
//! NVTX says nothing of streams: what is freed is freed for kernels that are launched from then on. Those that were
//! launched before may still have to run, so they are waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use toolkit::objects::{Object, permissions};
use toolkit::{DeviceAccess, HeapUse, Settle, quarantine};

use super::MemcheckInstance;

/// Kernels that run longer, perhaps because they wait for the host, are not waited for.
const PATIENCE: Duration = Duration::from_secs(60);

impl MemcheckInstance {
    /// The program allocates from a range by itself.
    pub(super) fn heap_appears(&self, start: u64, bytes: u64, usage: HeapUse, label: Option<Arc<str>>, settle: Settle) {
        let shadow = &self.shadow;
        if usage != HeapUse::SubAllocator || !self.has_settled(settle) {
            return;
        }
        let mut objects = self.host.objects();
        if let Some(old) = objects.remove_heap(start) {
            shadow.set(old.start, old.bytes, true);
        }
        if objects.add_heap(start, bytes, label) {
            shadow.set(start, bytes, false);
        }
    }

    /// It does not do so any more.
    pub(super) fn heap_vanishes(&self, start: u64) {
        let shadow = &self.shadow;
        let Some(heap) = self.host.objects().remove_heap(start) else { return };
        shadow.set(heap.start, heap.bytes, true);
        if let Some(definedness) = &self.definedness {
            definedness.on_heap_vanished(&*self.host, heap.start);
        }
    }

    /// All is free that was allocated from a heap.
    pub(super) fn heap_is_reset(&self, start: u64, settle: Settle) {
        let shadow = &self.shadow;
        if self.host.objects().heap(start).is_none() {
            return;
        }
        let stack = self.host.stack();
        let has_settled = self.has_settled(settle);
        let mut objects = self.host.objects();
        for part in objects.clear_heap(start) {
            if has_settled {
                shadow.set(part.start, part.bytes, false);
                quarantine::keep(self.host.memory(), &mut objects, part, stack.clone(), None);
            }
        }
    }

    /// A range of a heap is allocated.
    pub(super) fn part_appears(&self, start: u64, bytes: u64) {
        let shadow = &self.shadow;
        let stack = self.host.stack();
        let mut objects = self.host.objects();
        if !objects.add_part(start, bytes, stack) {
            return;
        }
        shadow.set(start, bytes, true);
        // As what `cudaMalloc` returns: nobody means to read what was there before.
        if let Some((definedness, heap)) = self.definedness.as_ref().zip(objects.heap_around(start, bytes)) {
            definedness.undefine(start, bytes, (heap.start, heap.bytes));
        }
    }

    /// It has another size from now on.
    pub(super) fn part_is_resized(&self, start: u64, bytes: u64, settle: Settle) {
        let shadow = &self.shadow;
        if self.host.objects().part(start).is_none() {
            return;
        }
        let has_settled = self.has_settled(settle);
        let mut objects = self.host.objects();
        if bytes == 0 || objects.heap_around(start, bytes).is_none() {
            return;
        }
        let Some(part) = objects.remove_part(start) else { return };
        if objects.add_part(start, bytes, part.stack) {
            objects.change(start, |new| (new.label, new.permissions) = (part.label, part.permissions));
            if has_settled {
                shadow.set(start, part.bytes, false);
            }
            shadow.set(start, bytes, part.permissions == permissions::ALL);
        }
    }

    /// It is free again.
    pub(super) fn part_vanishes(&self, start: u64, settle: Settle) {
        let shadow = &self.shadow;
        if self.host.objects().part(start).is_none() {
            return;
        }
        let stack = self.host.stack();
        let has_settled = self.has_settled(settle);
        let mut objects = self.host.objects();
        let Some(part) = objects.remove_part(start) else { return };
        if has_settled {
            shadow.set(part.start, part.bytes, false);
            quarantine::keep(self.host.memory(), &mut objects, part, stack, None);
        }
    }

    /// The program says that memory is defined.
    pub(super) fn on_marked_defined(&self, start: u64, bytes: u64, settle: Settle) {
        let Some(definedness) = &self.definedness else { return };
        // Kernels that were launched before may still make it undefined; if they do not end, it is defined all the same.
        self.has_settled(settle);
        definedness.define(&*self.host, start, bytes);
    }

    /// The program says that memory is undefined.
    pub(super) fn on_marked_undefined(&self, start: u64, bytes: u64, settle: Settle) {
        let Some(definedness) = &self.definedness else { return };
        // What kernels write that were launched before is not meant.
        self.has_settled(settle);
        let object = self.host.objects().pointed_to(start).map(|object| (object.start, object.bytes));
        let Some((first, size)) = object.filter(|_| bytes > 0) else { return };
        definedness.undefine(start, bytes.min(first.saturating_add(size) - start), (first, size));
    }

    /// The program says what may be done with an object.
    pub(super) fn on_permissions(&self, start: u64, given: u64, settle: Settle) {
        let shadow = &self.shadow;
        if self.host.objects().starting_at(start).is_none() || !self.has_settled(settle) {
            return;
        }
        let mut objects = self.host.objects();
        if let Some(Object { start, bytes, access, .. }) = objects.change(start, |object| object.permissions = given) {
            // The shadow knows all permissions or none; the table of unshadowed ranges has the others.
            shadow.set(start, bytes, given == permissions::ALL && access == DeviceAccess::Every);
        }
    }

    /// Everything may be done with all objects again.
    pub(super) fn rights_are_reset(&self, settle: Settle) {
        let limited = self.host.objects().with_limited_rights();
        for start in limited {
            self.on_permissions(start, permissions::ALL, settle);
        }
    }

    /// Waits for kernels that were launched before. If they do not end, what they may use stays accessible, because there is no
    /// telling who uses it.
    fn has_settled(&self, settle: Settle) -> bool {
        static HAS_GIVEN_UP: AtomicBool = AtomicBool::new(false);
        // A function of the program that a stream calls would wait for itself.
        if HAS_GIVEN_UP.load(Ordering::Relaxed) || self.host.is_in_stream() {
            return false;
        }
        let has_settled = settle(Instant::now() + PATIENCE);
        if !has_settled && !HAS_GIVEN_UP.swap(true, Ordering::Relaxed) {
            self.host.not_checked(
                "kernels do not end that may use what is freed from a heap, so what is freed from heaps is not checked any more",
            );
        }
        has_settled
    }
}
