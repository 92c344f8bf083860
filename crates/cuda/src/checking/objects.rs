//! All objects in memory that a kernel may access, and those that were there until lately.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tools::memcheck;

use super::stack::HostStack;

/// All objects.
#[derive(Debug, Default)]
pub(super) struct Objects {
    live: BTreeMap<u64, Object>,
    /// Objects that were freed and whose addresses are not used again yet.
    freed: BTreeMap<u64, (Object, HostStack)>,
    /// Their addresses, the oldest first.
    order: VecDeque<u64>,
    freed_bytes: u64,
    /// Memory outside of the arena, from first address to end, joined where pieces follow one another. Launches keep what
    /// they began with.
    regions: Option<Arc<[[u64; 2]]>>,
}

/// Memory of the program.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) what: What,
    pub(super) stack: HostStack,
}

/// Kinds of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum What {
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
    /// Memory that a kernel allocated.
    Heap(Arc<str>),
}

impl What {
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
        }
    }

    /// Whether the program has to free it.
    fn can_leak(&self) -> bool {
        matches!(self, Self::Device | Self::Managed | Self::Pinned | Self::Heap(_))
    }

    fn is_outside(&self) -> bool {
        matches!(self, Self::Registered | Self::Mapping)
    }
}

impl Objects {
    pub(super) fn add(&mut self, start: u64, bytes: u64, what: What, stack: HostStack) {
        if what.is_outside() {
            self.regions = None;
        }
        self.live.insert(start, Object { start, bytes, what, stack });
    }

    pub(super) fn remove(&mut self, start: u64) -> Option<Object> {
        let object = self.live.remove(&start)?;
        if object.what.is_outside() {
            self.regions = None;
        }
        Some(object)
    }

    /// Keeps an object that was freed; gives those that have been kept long enough.
    pub(super) fn quarantine(&mut self, object: Object, stack: HostStack, most_bytes: u64) -> Vec<u64> {
        /// More are not kept, however small they are.
        const MOST_OBJECTS: usize = 1 << 16;
        self.freed_bytes += object.bytes;
        self.order.push_back(object.start);
        self.freed.insert(object.start, (object, stack));
        let mut old = Vec::new();
        while self.freed_bytes > most_bytes || self.order.len() > MOST_OBJECTS {
            let Some(start) = self.order.pop_front() else { break };
            if let Some((object, _)) = self.freed.remove(&start) {
                self.freed_bytes -= object.bytes;
                old.push(start);
            }
        }
        old
    }

    /// Gives all objects that were kept.
    pub(super) fn empty_quarantine(&mut self) -> Vec<u64> {
        self.freed_bytes = 0;
        self.order.clear();
        std::mem::take(&mut self.freed).into_keys().collect()
    }

    /// The object that a pointer points into, or to the end of.
    pub(super) fn pointed_to(&self, pointer: u64) -> Option<&Object> {
        let (_, object) = self.live.range(..=pointer).next_back()?;
        (pointer - object.start <= object.bytes).then_some(object)
    }

    /// Bytes of the device that the program does not know to be in use: redzones, and what was freed.
    pub(super) fn hidden_bytes(&self, redzone: u64) -> u64 {
        let is_ours = |what: &What| !what.is_outside() && !matches!(what, What::Variable(_));
        let redzones = self.live.values().filter(|object| is_ours(&object.what)).count() as u64 * redzone;
        let freed = self.freed.values().map(|(object, _)| object.bytes.max(1).next_multiple_of(256) + redzone);
        redzones + freed.sum::<u64>()
    }

    /// An object that was freed, by its address.
    pub(super) fn freed_at(&self, start: u64) -> Option<&(Object, HostStack)> {
        self.freed.get(&start)
    }

    /// Memory outside of the arena.
    pub(super) fn regions(&mut self) -> Arc<[[u64; 2]]> {
        let live = &self.live;
        let joined = || {
            let mut joined: Vec<[u64; 2]> = Vec::new();
            for object in live.values().filter(|object| object.what.is_outside()) {
                let (start, end) = (object.start, object.start.saturating_add(object.bytes));
                match joined.last_mut().filter(|last| last[1] == start) {
                    Some(last) => last[1] = end,
                    None => joined.push([start, end]),
                }
            }
            joined.into()
        };
        Arc::clone(self.regions.get_or_insert_with(joined))
    }

    /// What there is at an address.
    pub(super) fn at(&self, address: u64, is_device: bool) -> memcheck::Memory {
        /// Objects that are farther away have nothing to do with it.
        const NEAR: u64 = 1 << 20;
        let inside = |object: &Object| address - object.start < object.bytes.max(1);
        let before = self.live.range(..=address).next_back().map(|(_, object)| object);
        if let Some(object) = before.filter(|object| inside(object)) {
            return memcheck::Memory::Live(object.described());
        }
        let freed = self.freed.range(..=address).next_back().map(|(_, freed)| freed);
        if let Some((object, stack)) = freed.filter(|(object, _)| inside(object)) {
            return memcheck::Memory::Freed(object.described(), Some(stack.frames()));
        }
        let after = self.live.range(address..).next().map(|(_, object)| object);
        let behind = before.map(|object| (address - object.start - object.bytes, object));
        let in_front = after.map(|object| (object.start - address, object));
        let nearest = behind
            .into_iter()
            .chain(in_front)
            .filter(|(distance, _)| *distance < NEAR)
            .min_by_key(|(distance, _)| *distance);
        match nearest {
            None if !is_device && is_host_memory(address) => memcheck::Memory::Host,
            nearest => memcheck::Memory::Nothing(nearest.map(|(_, object)| object.described())),
        }
    }

    /// An object by where it starts.
    pub(super) fn starting_at(&self, start: u64) -> Option<memcheck::Object> {
        self.live.get(&start).map(Object::described)
    }

    /// Whether kernels have allocated what begins at an address.
    pub(super) fn is_heap(&self, start: u64) -> bool {
        self.live.get(&start).is_some_and(|object| matches!(object.what, What::Heap(_)))
    }

    /// All objects: start, size, and name.
    pub(super) fn all(&self) -> Vec<(u64, u64, String)> {
        self.live.values().map(|object| (object.start, object.bytes, object.what.name())).collect()
    }

    /// What was never freed.
    pub(super) fn leaks(&self) -> Vec<Object> {
        self.live.values().filter(|object| object.what.can_leak()).cloned().collect()
    }
}

impl Object {
    pub(super) fn described(&self) -> memcheck::Object {
        let stack = (!matches!(self.what, What::Variable(_) | What::Heap(_))).then(|| self.stack.frames());
        memcheck::Object { name: self.what.name(), start: self.start, bytes: self.bytes, stack }
    }
}

/// Whether the process has memory at an address.
fn is_host_memory(address: u64) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().any(|line| {
        let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let parse = |text: &str| u64::from_str_radix(text, 16).ok();
        range.is_some_and(|(start, end)| {
            let is_accessible = line.split(' ').nth(1).is_some_and(|rights| rights.starts_with('r'));
            is_accessible
                && parse(start).is_some_and(|start| start <= address)
                && parse(end).is_some_and(|end| address < end)
        })
    })
}
