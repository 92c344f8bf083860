//! All objects in memory that a kernel may access, and those that were there until lately.

use std::collections::BTreeMap;
use std::sync::Arc;

use report::{AccessedObject, Place, Stack};

use crate::device_access::{DeviceAccess, LaunchDevice};
use crate::stack::HostStack;

/// All objects.
#[derive(Debug, Default)]
pub struct Objects {
    live: BTreeMap<u64, Object>,
    /// Objects that were freed and whose addresses are not used again yet.
    freed: BTreeMap<u64, Freed>,
    /// Their addresses by when they were freed.
    order: BTreeMap<u64, u64>,
    next_freed: u64,
    freed_bytes: u64,
    /// Objects in which the program has heaps. What may be accessed of a heap is what is allocated from it: those are
    /// objects among all others.
    divided: BTreeMap<u64, Object>,
    /// The heaps in them.
    heaps: BTreeMap<u64, Heap>,
    /// Memory that the shadow says nothing of: outside of the arena, joined where ranges follow one another, and objects
    /// for which not every right is given, or not to every device; for the last device that asked. Launches keep what they
    /// began with.
    unshadowed: Option<(LaunchDevice, Arc<[UnshadowedRange]>)>,
}

/// Memory without a shadow: first address, end, and [`permissions`].
pub type UnshadowedRange = [u64; 3];

/// What may be done with memory.
pub mod permissions {
    /// The right to read memory.
    pub const READ: u64 = 1;
    /// The right to write it.
    pub const WRITE: u64 = 2;
    /// The right to read and write it in one step.
    pub const ATOMIC: u64 = 4;
    /// All of them.
    pub const ALL: u64 = READ | WRITE | ATOMIC;
}

/// What there is at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AtAddress {
    /// An object that is there.
    Live(Described),
    /// An object that was there, and when it was freed.
    Freed(Described, Option<Stack>),
    /// Memory of the host that the device does not know.
    Host,
    /// A heap of the program's own, of which nothing is allocated there; perhaps with the object that is nearest.
    Unused(Described, Option<Described>),
    /// Nothing; perhaps with the object that is nearest.
    Nothing(Option<Described>),
}

/// An object, as reports speak of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    /// What it is: `an allocation by cudaMalloc`, `the variable \`table\``.
    pub name: String,
    /// Where it begins.
    pub start: u64,
    /// Its size, as the program asked for it.
    pub bytes: u64,
    /// Where it was made.
    pub stack: Option<Stack>,
    /// What may be done with it: [`permissions`].
    pub permissions: u64,
    /// Kernels of which devices may access it.
    pub access: DeviceAccess,
}

impl Described {
    /// An access in it or beside it, as findings have it.
    pub fn accessed(&self, address: u64, bytes: u64) -> AccessedObject {
        // Addresses are below 2^63, so the difference is right.
        let offset = address.wrapping_sub(self.start).cast_signed();
        AccessedObject { name: self.name.clone(), bytes: self.bytes, offset, accessed: bytes, is_freed: false }
    }
}

/// An object that was freed.
#[derive(Clone, Debug)]
pub struct Freed {
    /// The object.
    pub object: Object,
    /// By whom.
    pub stack: HostStack,
    /// When, if a kernel freed it.
    when: Option<Moment>,
    /// How many were freed before it.
    number: u64,
}

/// A time in a launch: after so many records of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// The number of the launch.
    pub launch: u64,
    /// How many records there were before.
    pub records: u64,
}

impl Freed {
    /// Whether it was still there at a time, which is that of a record.
    fn was_live(&self, at: Option<Moment>) -> bool {
        matches!((self.when, at), (Some(freed), Some(at)) if freed.launch == at.launch && freed.records > at.records)
    }
}

/// Memory from which the program allocates by itself, as it says through NVTX.
#[derive(Clone, Debug)]
pub struct Heap {
    /// Where it begins.
    pub start: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// As the program calls it.
    pub label: Option<Arc<str>>,
    /// The object that it is in.
    object: u64,
}

impl Heap {
    fn end(&self) -> u64 {
        self.start + self.bytes
    }

    fn contains(&self, start: u64, bytes: u64) -> bool {
        self.start <= start && bytes <= self.bytes && start - self.start <= self.bytes - bytes
    }
}

/// Memory of the program.
#[derive(Clone, Debug)]
pub struct Object {
    /// Where it begins.
    pub start: u64,
    /// How many bytes it has, as the program asked for it.
    pub bytes: u64,
    /// What it is.
    pub kind: AllocationKind,
    /// Where it was made.
    pub stack: HostStack,
    /// As the program calls it.
    pub label: Option<Arc<str>>,
    /// What may be done with it.
    pub permissions: u64,
    /// Kernels of which devices may access it.
    pub access: DeviceAccess,
}

/// Kinds of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AllocationKind {
    /// Memory of the device.
    Device,
    /// Memory of both.
    Managed,
    /// Memory of the host that CUDA allocated.
    Pinned,
    /// Memory of the host that the program registered; it lies outside of the arena.
    Registered,
    /// Memory behind addresses of the program's own; it lies outside of the arena.
    Mapping,
    /// Memory of a graph.
    Graph,
    /// A variable of a module.
    Variable(Arc<str>),
    /// Memory that a kernel allocated, and where.
    Heap(Arc<Place>),
    /// What the program itself allocated from a heap of its own; perhaps outside of the arena.
    Part {
        /// Whether it is.
        is_outside: bool,
    },
}

impl AllocationKind {
    /// In words.
    fn name(&self) -> String {
        match self {
            Self::Device => "an allocation".to_owned(),
            Self::Managed => "an allocation of managed memory".to_owned(),
            Self::Pinned => "an allocation of pinned host memory".to_owned(),
            Self::Registered => "registered host memory".to_owned(),
            Self::Mapping => "a mapping".to_owned(),
            Self::Graph => "an allocation of a graph".to_owned(),
            Self::Variable(name) => format!("the variable `{name}`"),
            Self::Heap(_) => "memory that a kernel allocated".to_owned(),
            Self::Part { .. } => "a sub-allocation".to_owned(),
        }
    }

    /// Whether the program has to free it.
    fn can_leak(&self) -> bool {
        matches!(self, Self::Device | Self::Managed | Self::Pinned | Self::Heap(_) | Self::Part { .. })
    }

    /// Whether it lies outside of the memory of the device.
    pub fn is_outside(&self) -> bool {
        matches!(self, Self::Registered | Self::Mapping | Self::Part { is_outside: true })
    }

    /// Whether the program allocated it from a heap of its own.
    pub fn is_part(&self) -> bool {
        matches!(self, Self::Part { .. })
    }
}

impl Objects {
    /// Adds an object.
    pub fn add(&mut self, start: u64, bytes: u64, kind: AllocationKind, stack: HostStack) {
        self.add_object(Object::new(start, bytes, kind, stack));
    }

    /// Adds an object that is described.
    pub fn add_object(&mut self, object: Object) {
        if !object.is_shadowed() {
            self.unshadowed = None;
        }
        self.live.insert(object.start, object);
    }

    /// Takes an object out, with all that was allocated from it.
    pub fn remove(&mut self, start: u64) -> Option<Object> {
        if let Some(object) = self.divided.remove(&start) {
            let heaps: Vec<u64> = self.heaps_of(start).map(|heap| heap.start).collect();
            for heap in heaps {
                self.clear_heap(heap);
                self.heaps.remove(&heap);
            }
            self.unshadowed = None;
            return Some(object);
        }
        self.remove_live(start)
    }

    fn remove_live(&mut self, start: u64) -> Option<Object> {
        let object = self.live.remove(&start)?;
        if !object.is_shadowed() {
            self.unshadowed = None;
        }
        Some(object)
    }

    /// Keeps an object that was freed; gives those that have been kept long enough.
    pub fn quarantine(&mut self, object: Object, stack: HostStack, when: Option<Moment>, most_bytes: u64) -> Vec<u64> {
        /// More are not kept, however small they are.
        const MOST_OBJECTS: usize = 1 << 16;
        let number = self.next_freed;
        self.next_freed += 1;
        self.freed_bytes += object.quarantined_bytes();
        self.order.insert(number, object.start);
        self.freed.insert(object.start, Freed { object, stack, when, number });
        let mut old = Vec::new();
        while self.freed_bytes > most_bytes || self.order.len() > MOST_OBJECTS {
            let Some((_, &start)) = self.order.first_key_value() else { break };
            let Some(object) = self.forget_freed(start) else { break };
            // What was allocated from a heap is still in it.
            if !object.kind.is_part() {
                old.push(start);
            }
        }
        old
    }

    fn forget_freed(&mut self, start: u64) -> Option<Object> {
        let freed = self.freed.remove(&start)?;
        self.order.remove(&freed.number);
        self.freed_bytes -= freed.object.quarantined_bytes();
        Some(freed.object)
    }

    /// Gives all objects that were kept and whose memory the device can have again.
    pub fn empty_quarantine(&mut self) -> Vec<u64> {
        let is_whole = |freed: &&Freed| !freed.object.kind.is_part();
        let old: Vec<u64> = self.freed.values().filter(is_whole).map(|freed| freed.object.start).collect();
        for &start in &old {
            self.forget_freed(start);
        }
        old
    }

    /// The object that a pointer points into, or to the end of.
    pub fn pointed_to(&self, pointer: u64) -> Option<&Object> {
        let (_, object) = self.live.range(..=pointer).next_back()?;
        (pointer - object.start <= object.bytes).then_some(object)
    }

    /// The memory that a pointer into an object may be moved through: where it starts, and how long it is. That is the object,
    /// and with mappings, which programs put beside each other to make one piece of them, those beside it.
    pub fn reach(&self, object: &Object) -> (u64, u64) {
        let (mut start, mut end) = (object.start, object.start + object.bytes);
        let is_mapping =
            |other: &Object| other.kind == AllocationKind::Mapping && other.permissions == permissions::ALL;
        if is_mapping(object) {
            let before = self.live.range(..start).rev().map(|(_, other)| other).take_while(|other| is_mapping(other));
            for other in before {
                if other.start + other.bytes != start {
                    break;
                }
                start = other.start;
            }
            for (_, other) in self.live.range(end..).take_while(|(_, other)| is_mapping(other)) {
                if other.start != end {
                    break;
                }
                end += other.bytes;
            }
        }
        (start, end - start)
    }

    /// Bytes of the device that the program does not know to be in use: redzones, and what was freed.
    pub fn hidden_bytes(&self, redzone: u64) -> u64 {
        let is_ours = |kind: &AllocationKind| {
            !kind.is_outside() && !kind.is_part() && !matches!(kind, AllocationKind::Variable(_))
        };
        let redzones = self.whole().filter(|object| is_ours(&object.kind)).count() as u64 * redzone;
        let freed = self.freed.values().map(|freed| &freed.object).filter(|object| !object.kind.is_part());
        redzones + freed.map(|object| object.bytes.max(1).next_multiple_of(256) + redzone).sum::<u64>()
    }

    /// All objects, without what is allocated from them.
    fn whole(&self) -> impl Iterator<Item = &Object> {
        self.live.values().filter(|object| !object.kind.is_part()).chain(self.divided.values())
    }

    /// Whether what is at an address was freed. Who allocates from a heap of his own may do with it what he likes.
    pub fn is_freed(&self, address: u64) -> bool {
        let inside = |object: &Object| address - object.start < object.bytes.max(1);
        let is_live = || self.live.range(..=address).next_back().is_some_and(|(_, object)| inside(object));
        let freed = self.freed.range(..=address).next_back().map(|(_, freed)| freed);
        freed.is_some_and(|freed| inside(&freed.object) && !freed.was_live(None))
            && !is_live()
            && self.heap_around(address, 1).is_none()
    }

    /// An object that was freed, by its address.
    pub fn freed_at(&self, start: u64) -> Option<&Freed> {
        self.freed.get(&start)
    }

    /// Memory that the shadow says nothing of, and that launches on a device may access.
    pub fn unshadowed(&mut self, device: LaunchDevice) -> Arc<[UnshadowedRange]> {
        if let Some((_, unshadowed)) = self.unshadowed.as_ref().filter(|(of, _)| *of == device) {
            return Arc::clone(unshadowed);
        }
        let mut ranges: Vec<UnshadowedRange> = Vec::new();
        let unshadowed = self.live.values().filter(|object| !object.is_shadowed());
        for object in unshadowed.filter(|object| device.may_access(object.access)) {
            ranges.push([object.start, object.start.saturating_add(object.bytes), object.permissions]);
        }
        // Of what is divided, all that is not in a heap.
        let divided = self.divided.values().filter(|object| !object.is_shadowed());
        for object in divided.filter(|object| device.may_access(object.access)) {
            let mut at = object.start;
            for heap in self.heaps_of(object.start) {
                ranges.push([at, heap.start, permissions::ALL]);
                at = heap.end();
            }
            ranges.push([at, object.start.saturating_add(object.bytes), permissions::ALL]);
        }
        ranges.retain(|[start, end, _]| start < end);
        ranges.sort_unstable();
        let mut joined: Vec<UnshadowedRange> = Vec::new();
        for [start, end, permissions] in ranges {
            match joined.last_mut().filter(|last| last[1] == start && last[2] == permissions) {
                Some(last) => last[1] = end,
                None => joined.push([start, end, permissions]),
            }
        }
        let unshadowed: Arc<[UnshadowedRange]> = joined.into();
        self.unshadowed = Some((device, Arc::clone(&unshadowed)));
        unshadowed
    }

    /// What there is at an address; or what there was, of the memory of kernels, when a launch recorded an access to it. It is
    /// asked whether the host has memory there if nothing else is known.
    pub fn at(&self, address: u64, when: Option<Moment>, is_host: impl FnOnce() -> bool) -> AtAddress {
        /// Objects that are farther away have nothing to do with it.
        const NEAR: u64 = 1 << 20;
        /// Of what was freed, so much is looked at to find what was still there.
        const MOST_FREED: usize = 1 << 10;
        let inside = |object: &Object| address - object.start < object.bytes.max(1);
        let before = self.live.range(..=address).next_back().map(|(_, object)| object);
        if let Some(object) = before.filter(|object| inside(object)) {
            return AtAddress::Live(object.described());
        }
        let freed = self.freed.range(..=address).next_back().map(|(_, freed)| freed);
        if let Some(freed) = freed.filter(|freed| inside(&freed.object)) {
            if freed.was_live(when) {
                return AtAddress::Live(freed.object.described());
            }
            return AtAddress::Freed(freed.object.described(), Some(freed.stack.frames()));
        }
        let divided = self.divided.range(..=address).next_back().map(|(_, object)| object);
        if let Some(object) = divided.filter(|object| inside(object)) {
            return match self.heap_around(address, 1) {
                None => AtAddress::Live(object.described()),
                Some(heap) => {
                    let near = |object: &Object| heap.contains(object.start, object.bytes);
                    let after = self.live.range(address..).next().map(|(_, object)| object);
                    let distance = |object: &&Object| {
                        object.start.saturating_sub(address).max(address.saturating_sub(object.start + object.bytes))
                    };
                    let nearest = before.into_iter().chain(after).filter(|object| near(object)).min_by_key(distance);
                    AtAddress::Unused(heap.described(object), nearest.map(Object::described))
                }
            };
        }
        let after = self.live.range(address..).next().map(|(_, object)| object);
        let was_live = |freed: &&Freed| freed.was_live(when);
        let mut freed_before = self.freed.range(..=address).rev().take(MOST_FREED).map(|(_, freed)| freed);
        let mut freed_after = self.freed.range(address..).take(MOST_FREED).map(|(_, freed)| freed);
        let before = before.into_iter().chain(freed_before.find(was_live).map(|freed| &freed.object));
        let after = after.into_iter().chain(freed_after.find(was_live).map(|freed| &freed.object));
        let past_end = before.map(|object| (address - object.start - object.bytes, object));
        let in_front = after.map(|object| (object.start - address, object));
        let nearest =
            past_end.chain(in_front).filter(|(distance, _)| *distance < NEAR).min_by_key(|(distance, _)| *distance);
        match nearest {
            None if is_host() => AtAddress::Host,
            nearest => AtAddress::Nothing(nearest.map(|(_, object)| object.described())),
        }
    }

    /// An object by where it starts.
    pub fn starting_at(&self, start: u64) -> Option<Described> {
        self.live.get(&start).map(Object::described)
    }

    /// Whether kernels have allocated what begins at an address.
    pub fn is_heap(&self, start: u64) -> bool {
        self.live.get(&start).is_some_and(|object| matches!(object.kind, AllocationKind::Heap(_)))
    }

    /// All objects: start, size, and name.
    pub fn all(&self) -> Vec<(u64, u64, String)> {
        self.whole().map(|object| (object.start, object.bytes, object.kind.name())).collect()
    }

    /// An object of which something holds.
    pub fn find(&self, mut holds: impl FnMut(&Object) -> bool) -> Option<&Object> {
        self.live.values().find(|object| holds(object))
    }

    /// What was never freed.
    pub fn leaks(&self) -> Vec<Object> {
        let mut leaks: Vec<Object> =
            self.live.values().chain(self.divided.values()).filter(|object| object.kind.can_leak()).cloned().collect();
        leaks.sort_by_key(|object| (object.start, object.kind.is_part()));
        leaks
    }
}

/// Heaps of the program.
impl Objects {
    fn heaps_of(&self, object: u64) -> impl Iterator<Item = &Heap> {
        self.heaps.values().filter(move |heap| heap.object == object)
    }

    /// The heap that all of a range is in.
    pub fn heap_around(&self, start: u64, bytes: u64) -> Option<&Heap> {
        let (_, heap) = self.heaps.range(..=start).next_back()?;
        heap.contains(start, bytes).then_some(heap)
    }

    /// The program allocates from a range by itself, of which nothing is allocated yet. False if the range is in no object
    /// of the device, or overlaps with another heap.
    pub fn add_heap(&mut self, start: u64, bytes: u64, label: Option<Arc<str>>) -> bool {
        let Some(end) = start.checked_add(bytes).filter(|&end| end > start) else { return false };
        if self.heaps.range(..end).next_back().is_some_and(|(_, heap)| heap.end() > start) {
            return false;
        }
        let contains = |object: &Object| object.start <= start && end - object.start <= object.bytes;
        let before = |objects: &BTreeMap<u64, Object>| {
            objects.range(..=start).next_back().map(|(_, object)| object).filter(|object| contains(object)).cloned()
        };
        let object = match before(&self.divided) {
            Some(object) => object,
            // Heaps in what was allocated from another one are not followed.
            None => match before(&self.live)
                .filter(|object| !object.kind.is_part() && object.permissions == permissions::ALL)
            {
                Some(object) => {
                    self.live.remove(&object.start);
                    self.divided.insert(object.start, object.clone());
                    object
                }
                None => return false,
            },
        };
        self.heaps.insert(start, Heap { start, bytes, label, object: object.start });
        self.unshadowed = None;
        true
    }

    /// A heap by where it starts.
    pub fn heap(&self, start: u64) -> Option<&Heap> {
        self.heaps.get(&start)
    }

    /// Forgets all that is allocated from a heap, or was; gives what was still there.
    pub fn clear_heap(&mut self, start: u64) -> Vec<Object> {
        let Some(heap) = self.heaps.get(&start).cloned() else { return Vec::new() };
        let range = heap.start..heap.end();
        let freed: Vec<u64> = self.freed.range(range.clone()).map(|(&start, _)| start).collect();
        for start in freed {
            self.forget_freed(start);
        }
        let live: Vec<u64> = self.live.range(range).map(|(&start, _)| start).collect();
        live.into_iter().filter_map(|start| self.remove_live(start)).collect()
    }

    /// The program does not allocate from a heap any more: all of it can be accessed again.
    pub fn remove_heap(&mut self, start: u64) -> Option<Heap> {
        self.clear_heap(start);
        let heap = self.heaps.remove(&start)?;
        if self.heaps_of(heap.object).next().is_none()
            && let Some(object) = self.divided.remove(&heap.object)
        {
            self.live.insert(object.start, object);
        }
        self.unshadowed = None;
        Some(heap)
    }

    /// The program allocates a range of a heap. False if there is no heap. What it has not freed there is not known any
    /// more, and can still be accessed.
    pub fn add_part(&mut self, start: u64, bytes: u64, stack: HostStack) -> bool {
        let Some(heap) = self.heap_around(start, bytes).filter(|_| bytes > 0) else { return false };
        let Some(object) = self.divided.get(&heap.object) else { return false };
        let (kind, end) = (AllocationKind::Part { is_outside: object.kind.is_outside() }, start + bytes);
        let overlaps = |object: &Object| object.start < end && object.start + object.bytes > start;
        while let Some((&old, _)) = self.live.range(..end).next_back().filter(|(_, object)| overlaps(object)) {
            self.remove_live(old);
        }
        while let Some((&old, _)) = self.freed.range(..end).next_back().filter(|(_, freed)| overlaps(&freed.object)) {
            self.forget_freed(old);
        }
        self.add(start, bytes, kind, stack);
        true
    }

    /// What is allocated from a heap, by where it starts.
    pub fn part(&self, start: u64) -> Option<&Object> {
        self.live.get(&start).filter(|object| object.kind.is_part())
    }

    /// Takes it out. The object that the heap is in may begin at the same address.
    pub fn remove_part(&mut self, start: u64) -> Option<Object> {
        self.part(start)?;
        self.remove_live(start)
    }

    /// Where objects start for which not every right is given.
    pub fn with_limited_rights(&self) -> Vec<u64> {
        let limited = self.live.values().filter(|object| object.permissions != permissions::ALL);
        limited.map(|object| object.start).collect()
    }

    /// An object, to say more of it.
    pub fn change(&mut self, start: u64, change: impl FnOnce(&mut Object)) -> Option<Object> {
        let object = match self.live.get_mut(&start) {
            Some(object) => object,
            None => self.divided.get_mut(&start)?,
        };
        change(object);
        self.unshadowed = None;
        Some(object.clone())
    }
}

impl Heap {
    fn described(&self, object: &Object) -> Described {
        let name = called("the heap".to_owned(), self.label.as_deref());
        let stack = Some(object.stack.frames());
        Described { name, start: self.start, bytes: self.bytes, stack, permissions: 0, access: object.access }
    }
}

/// A thing and its name.
fn called(what: String, label: Option<&str>) -> String {
    label.map_or_else(|| what.clone(), |label| format!("{what} `{label}`"))
}

impl Object {
    /// New memory of the program.
    pub fn new(start: u64, bytes: u64, kind: AllocationKind, stack: HostStack) -> Self {
        Self { start, bytes, kind, stack, label: None, permissions: permissions::ALL, access: DeviceAccess::Every }
    }

    /// As reports speak of it.
    pub fn described(&self) -> Described {
        let stack =
            (!matches!(self.kind, AllocationKind::Variable(_) | AllocationKind::Heap(_))).then(|| self.stack.frames());
        let name = called(self.kind.name(), self.label.as_deref());
        Described {
            name,
            start: self.start,
            bytes: self.bytes,
            stack,
            permissions: self.permissions,
            access: self.access,
        }
    }

    /// Whether one shadow says for all launches that it may be accessed.
    pub fn is_shadowed(&self) -> bool {
        !self.kind.is_outside() && self.permissions == permissions::ALL && self.access == DeviceAccess::Every
    }

    /// Bytes that are kept from the device while it is in quarantine.
    fn quarantined_bytes(&self) -> u64 {
        if self.kind.is_part() { 0 } else { self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_heap() -> Objects {
        let mut objects = Objects::default();
        objects.add(0x10000, 0x1000, AllocationKind::Device, HostStack::default());
        assert!(objects.add_heap(0x10100, 0x100, Some("pool".into())));
        objects
    }

    fn part(objects: &mut Objects, start: u64, bytes: u64) -> bool {
        objects.add_part(start, bytes, HostStack::default())
    }

    #[test]
    fn what_is_allocated_from_a_heap_is_an_object() {
        let mut objects = with_heap();
        assert!(part(&mut objects, 0x10100, 3) && part(&mut objects, 0x10103, 5));
        assert!(!part(&mut objects, 0x10000, 8), "it is not in the heap");
        assert!(!part(&mut objects, 0x101f9, 8), "it ends after the heap");
        assert!(!part(&mut objects, 0x10110, 0));
        let pointed_to = |objects: &Objects, at| objects.pointed_to(at).map(|object| (object.start, object.bytes));
        assert_eq!(pointed_to(&objects, 0x10102), Some((0x10100, 3)));
        assert_eq!(pointed_to(&objects, 0x10103), Some((0x10103, 5)));
        assert_eq!(pointed_to(&objects, 0x10180), None);
        // The allocation is not an object of its own any more, but it is there.
        assert_eq!(objects.all().len(), 1);
        assert_eq!(objects.leaks().len(), 3);
        assert!(matches!(objects.at(0x10101, None, || false), AtAddress::Live(object) if object.bytes == 3));
        assert!(matches!(objects.at(0x10010, None, || false), AtAddress::Live(object) if object.bytes == 0x1000));
        let AtAddress::Unused(heap, Some(near)) = objects.at(0x10110, None, || false) else {
            panic!("nothing is allocated there")
        };
        assert_eq!((heap.name.as_str(), near.start), ("the heap `pool`", 0x10103));
        objects.remove_heap(0x10100);
        assert_eq!(pointed_to(&objects, 0x10102), Some((0x10000, 0x1000)));
        assert_eq!(objects.leaks().len(), 1);
    }

    #[test]
    fn what_was_freed_from_a_heap_stays_in_it() {
        let mut objects = with_heap();
        part(&mut objects, 0x10100, 16);
        part(&mut objects, 0x10110, 16);
        let freed = objects.remove_part(0x10100).unwrap();
        assert!(objects.quarantine(freed, HostStack::default(), None, 0).is_empty(), "the device must not have it");
        assert!(matches!(objects.at(0x10104, None, || false), AtAddress::Freed(object, _) if object.bytes == 16));
        assert!(objects.empty_quarantine().is_empty());
        assert_eq!(objects.hidden_bytes(256), 256);
        // It is used again, in part.
        part(&mut objects, 0x10108, 4);
        assert!(matches!(objects.at(0x10104, None, || false), AtAddress::Unused(..)));
        // What is freed as a whole takes all with it.
        let whole = objects.remove(0x10000).unwrap();
        assert_eq!(whole.bytes, 0x1000);
        assert!(objects.pointed_to(0x10110).is_none() && objects.heap(0x10100).is_none());
        assert_eq!(objects.quarantine(whole, HostStack::default(), None, 0), [0x10000]);
    }

    #[test]
    fn the_first_part_begins_where_its_allocation_does() {
        let mut objects = Objects::default();
        objects.add(0x10000, 0x1000, AllocationKind::Device, HostStack::default());
        objects.add_heap(0x10000, 0x1000, None);
        part(&mut objects, 0x10000, 16);
        let freed = objects.remove_part(0x10000).unwrap();
        objects.quarantine(freed, HostStack::default(), None, u64::MAX);
        assert!(objects.remove_part(0x10000).is_none());
        assert_eq!(objects.all().len(), 1);
        assert_eq!(objects.remove(0x10000).map(|object| object.bytes), Some(0x1000));
        assert!(objects.freed_at(0x10000).is_none());
    }

    #[test]
    fn what_is_allocated_twice_is_allocated_anew() {
        let mut objects = with_heap();
        part(&mut objects, 0x10100, 16);
        part(&mut objects, 0x10110, 16);
        part(&mut objects, 0x10108, 16);
        assert_eq!(objects.pointed_to(0x10104).map(|object| object.start), None);
        assert_eq!(objects.pointed_to(0x1010c).map(|object| object.start), Some(0x10108));
    }

    #[test]
    fn heaps_that_are_refused() {
        let mut objects = with_heap();
        assert!(!objects.add_heap(0x10180, 0x100, None), "it overlaps");
        assert!(!objects.add_heap(0x10f80, 0x100, None), "it ends after the allocation");
        assert!(!objects.add_heap(0x20000, 0x100, None), "there is no memory");
        assert!(!objects.add_heap(u64::MAX, 2, None));
        assert!(objects.add_heap(0x10200, 0x100, None));
        objects.remove_heap(0x10100);
        assert!(objects.pointed_to(0x10010).is_none(), "there is another heap in it");
        objects.remove_heap(0x10200);
        assert!(objects.pointed_to(0x10010).is_some());
    }

    #[test]
    fn memory_without_a_shadow() {
        let mut objects = Objects::default();
        objects.add(0x1000, 0x100, AllocationKind::Mapping, HostStack::default());
        objects.add(0x1100, 0x100, AllocationKind::Mapping, HostStack::default());
        assert_eq!(*objects.unshadowed(LaunchDevice::default()), [[0x1000, 0x1200, permissions::ALL]]);
        objects.add_heap(0x1040, 0x40, None);
        part(&mut objects, 0x1050, 8);
        let all = permissions::ALL;
        assert_eq!(
            *objects.unshadowed(LaunchDevice::default()),
            [[0x1000, 0x1040, all], [0x1050, 0x1058, all], [0x1080, 0x1200, all]]
        );
        objects.change(0x1100, |object| object.permissions = permissions::READ);
        let last = [[0x1080, 0x1100, all], [0x1100, 0x1200, permissions::READ]];
        assert_eq!(objects.unshadowed(LaunchDevice::default())[2..], last);
    }
}
