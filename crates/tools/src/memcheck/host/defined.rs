//! Which memory is undefined: a byte for each byte of the device, and of the shared memory of blocks, with a bit for each bit.
//!
//! Memory that `cudaMalloc` and its relatives return is undefined, and what kernels allocate; what is copied there from the host, or filled, is defined;
//! copies on the device carry what is known. Memory that the host can write by itself counts as defined whenever a kernel begins.
//! Objects of which nothing is undefined any more are known, so that launches which access no others need not follow anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use report::{Finding, Note, Severity, Stack};
use toolkit::objects::{AllocationKind, Described, Object};
use toolkit::{
    Accessed, Host, HostStack, LaunchView, Plane, PlaneLayout, PlaneOf, SharedWords, Touched, Words, quarantine,
};

use super::super::kernel_facts::KernelFacts;
use super::super::version::Follows;
use super::super::{DEFINED_DISTANCE, SHARED_DISTANCE, UNDEFINED_MEMORY, WINDOWS, WINDOWS_BYTES};
use super::suspects::{Suspect, Suspects};

/// What is known of which memory is undefined.
#[derive(Debug)]
pub(super) struct Definedness {
    global: Box<dyn Plane>,
    /// The shadow of shared memory, unless it is in the blocks themselves.
    shared: Option<Box<dyn Plane>>,
    /// Where device memory begins, and how many bytes it has.
    arena: (u64, u64),
    /// Where the shared memory of blocks is, and how many bytes it ranges over.
    windows: (u64, u64),
    /// Kernels write to its word when they write something undefined to memory.
    is_memory_undefined: Arc<dyn SharedWords>,
    suspects: Mutex<Suspects>,
    /// Where the program has copied something undefined to the host.
    reported: Mutex<BTreeSet<String>>,
    /// How many launches were not followed, by why and their kernels, and the last one of each.
    not_followed: Mutex<BTreeMap<(NotFollowed, String), (usize, u64)>>,
}

/// Why a launch was not followed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum NotFollowed {
    /// It does what nobody follows.
    Opaque,
    /// Its blocks cannot have twice the shared memory.
    NoSharedShadow,
}

impl NotFollowed {
    /// What is said of the kernels.
    fn why(self) -> &'static str {
        match self {
            Self::Opaque => "they write memory by instructions, or call functions, that memcheck does not follow",
            Self::NoSharedShadow => {
                "their blocks cannot have twice the shared memory, half of which would say what is undefined in the other"
            }
        }
    }
}

/// So many bytes are told to Valgrind at once.
const PIECE: u64 = 1 << 16;

/// All bits of a byte.
const UNDEFINED: u8 = 0xff;

impl Definedness {
    pub(super) fn new(host: &dyn Host) -> std::io::Result<Self> {
        let layout = |of| PlaneLayout { of, granule: 1, cell: 1, common: UNDEFINED };
        Ok(Self {
            global: host.plane(layout(PlaneOf::Global))?,
            shared: host.shared_range().map(|_| host.plane(layout(PlaneOf::Shared))).transpose()?,
            arena: host.memory().range(),
            windows: host.shared_range().unwrap_or_default(),
            is_memory_undefined: host.words(1)?,
            suspects: Mutex::default(),
            reported: Mutex::default(),
            not_followed: Mutex::default(),
        })
    }

    fn suspects(&self) -> MutexGuard<'_, Suspects> {
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where in the plane a range is, if it is memory of the device.
    fn cells(&self, address: u64, bytes: u64) -> Option<u64> {
        let offset = address.checked_sub(self.arena.0)?;
        (offset.checked_add(bytes)? <= self.arena.1).then_some(offset)
    }

    /// Where the shadow of memory of the device is.
    pub(super) fn shadow_of(&self, address: u64) -> Option<u64> {
        Some(self.global.address() + self.cells(address, 1)?)
    }

    /// Memory is there.
    pub(super) fn on_allocated(&self, object: &Object) {
        let Some(first) = self.cells(object.start, object.bytes) else { return };
        let is_undefined =
            matches!(object.kind, AllocationKind::Device | AllocationKind::Graph | AllocationKind::Heap(_));
        self.global.fill(first, object.bytes, if is_undefined { UNDEFINED } else { 0 });
        if is_undefined {
            self.suspects().insert(object.start, Suspect { bytes: object.bytes, seen: 0 });
        }
    }

    /// Memory is gone, and heaps that were in it.
    pub(super) fn on_freed(&self, object: &Object) {
        let end = object.start.saturating_add(object.bytes.max(1));
        self.suspects().remove_all(object.start..end);
    }

    /// The program has allocated from a heap of its own, which is suspected beside the allocation around it.
    /// What was suspected within the new part is not told apart from it any more.
    pub(super) fn undefine(&self, start: u64, bytes: u64, (heap, heap_bytes): (u64, u64)) {
        let Some(first) = self.cells(start, bytes) else { return };
        self.global.fill(first, bytes, UNDEFINED);
        let mut suspects = self.suspects();
        suspects.remove_all(start..start + bytes);
        suspects.insert(heap, Suspect { bytes: heap_bytes, seen: start - heap });
    }

    /// A heap of the program's own is a part of an allocation again.
    pub(super) fn on_heap_vanished(&self, host: &dyn Host, start: u64) {
        let object = host.objects().pointed_to(start).map(|object| (object.start, object.bytes));
        let mut suspects = self.suspects();
        if let Some((_, (start, bytes))) = suspects.remove(start).zip(object) {
            suspects.insert(start, Suspect { bytes, seen: 0 });
        }
    }

    /// Memory is defined now.
    pub(super) fn define(&self, host: &dyn Host, address: u64, bytes: u64) {
        if let Some(first) = self.cells(address, bytes).filter(|_| self.is_suspected(host, address, bytes)) {
            self.clear(first, bytes);
            self.suspects().remove_within(address, bytes);
        }
    }

    /// Cells are of memory that is defined. Those that are so already are not touched: they may share what they are in.
    fn clear(&self, first: u64, bytes: u64) {
        if self.global.first_set(first, bytes).is_some() {
            self.global.fill(first, bytes, 0);
        }
    }

    /// Whether something in a range may be undefined. In programs that are right nothing is, mostly, and then no cell has to be
    /// looked at.
    fn is_suspected(&self, host: &dyn Host, address: u64, bytes: u64) -> bool {
        self.suspect_written(host);
        self.suspects().overlapping(address, bytes).next().is_some()
    }

    /// If kernels have written something undefined, it may be anywhere.
    fn suspect_written(&self, host: &dyn Host) {
        if self.is_memory_undefined.words()[0].swap(0, Ordering::Relaxed) != 0 {
            self.suspect_all(host);
        }
    }

    /// Memory was copied. The first undefined byte, if some of it was undefined and is in memory of the host now.
    pub(super) fn on_copied(&self, host: &dyn Host, from: u64, to: u64, bytes: u64) -> Option<u64> {
        let belongs_to_host =
            |address| host.objects().pointed_to(address).is_some_and(|object| is_of_host(&object.kind));
        let source = self.cells(from, bytes).filter(|_| self.is_suspected(host, from, bytes));
        let undefined = source.and_then(|first| Some(from + (self.global.first_set(first, bytes)? - first)));
        let Some((source, undefined)) = source.zip(undefined) else {
            if let Some(first) = source {
                self.suspects().remove_within(from, bytes);
                self.give_back(host, first, bytes);
            }
            self.define(host, to, bytes);
            if host.has_valgrind() {
                let on_device = |address| self.cells(address, bytes).filter(|_| !belongs_to_host(address));
                match (on_device(from), on_device(to)) {
                    (None, Some(target)) => self.ask_host(host, target, to, bytes),
                    // What kernels wrote is as we follow it, whatever Valgrind makes of their code.
                    (Some(_), None) => define_host(host, to, bytes),
                    _ => {}
                }
            }
            return None;
        };
        if let Some(target) = self.cells(to, bytes).filter(|_| !belongs_to_host(to)) {
            self.global.copy(source, target, bytes);
            self.suspect_all(host);
            return None;
        }
        self.define(host, to, bytes);
        if belongs_to_host(from) {
            return None;
        }
        if host.has_valgrind() {
            // Valgrind reports where the host uses what it was given.
            self.tell_host(host, source, to, bytes);
            return None;
        }
        Some(undefined)
    }

    /// Under Valgrind, memory of the host is as undefined as what was copied there.
    fn tell_host(&self, host: &dyn Host, source: u64, to: u64, bytes: u64) {
        let mut bits = vec![0; bytes.min(PIECE) as usize];
        for done in (0..bytes).step_by(PIECE as usize) {
            let piece = &mut bits[..(bytes - done).min(PIECE) as usize];
            self.global.read(source + done, piece);
            host.set_undefined_bits(to + done, piece);
        }
    }

    /// Under Valgrind, memory of the device is as undefined as what was copied there. Valgrind follows the copy itself, so it is
    /// asked about the target, of which it need not know any more.
    fn ask_host(&self, host: &dyn Host, target: u64, to: u64, bytes: u64) {
        let mut bits = vec![0; bytes.min(PIECE) as usize];
        let mut any = false;
        for done in (0..bytes).step_by(PIECE as usize) {
            let piece = &mut bits[..(bytes - done).min(PIECE) as usize];
            if host.undefined_bits(to + done, piece) && piece.iter().any(|&byte| byte != 0) {
                any = true;
                self.global.write(target + done, piece);
                piece.fill(0);
                host.set_undefined_bits(to + done, piece);
            }
        }
        if any {
            let object = host.objects().pointed_to(to).map(|object| (object.start, object.bytes));
            object.into_iter().for_each(|(start, bytes)| self.suspects().add(start, bytes));
        }
    }

    /// Suspects all memory of the device.
    fn suspect_all(&self, host: &dyn Host) {
        let mut objects = Vec::new();
        host.objects().find(|object| {
            objects.push((object.start, object.bytes, is_of_host(&object.kind)));
            false
        });
        let mut suspects = self.suspects();
        for (start, bytes, is_of_host) in objects {
            match self.cells(start, bytes) {
                Some(first) if is_of_host => self.clear(first, bytes),
                Some(_) => suspects.add(start, bytes),
                None => {}
            }
        }
    }

    /// Cells say of nothing any more that it is undefined. Another stream may write there meanwhile, if there is one.
    fn give_back(&self, host: &dyn Host, first: u64, bytes: u64) {
        if !host.has_unordered_streams() {
            self.global.give_back(first, bytes);
        }
    }

    /// Whether something in an object is undefined.
    fn is_undefined(&self, host: &dyn Host, suspects: &mut Suspects, start: u64) -> bool {
        let Some(suspect) = suspects.get_mut(start) else { return false };
        let Some(first) = self.cells(start, suspect.bytes) else { return false };
        if suspect.seen < suspect.bytes && self.global.first_set(first + suspect.seen, 1).is_some() {
            return true;
        }
        match self.global.first_set(first, suspect.bytes) {
            Some(cell) => {
                suspect.seen = cell - first;
                true
            }
            None => {
                self.give_back(host, first, suspect.bytes);
                suspects.remove(start);
                false
            }
        }
    }

    /// A kernel runs that is not followed: what it may write counts as defined.
    pub(super) fn is_not_followed(&self) {
        let suspects = self.suspects().take();
        for (start, suspect) in suspects {
            if let Some(first) = self.cells(start, suspect.bytes) {
                self.clear(first, suspect.bytes);
            }
        }
    }

    /// Which memory a launch has to look at when it loads.
    pub(super) fn has_to_follow(
        &self,
        host: &dyn Host,
        launch: &LaunchView<'_>,
        facts: Option<&KernelFacts>,
    ) -> Follows {
        self.suspect_written(host);
        let Some(facts) = facts.filter(|facts| !facts.is_opaque) else {
            self.is_not_followed();
            if facts.is_some_and(|facts| facts.is_opaque) {
                self.count_not_followed(launch, NotFollowed::Opaque);
            }
            return Follows::Nothing;
        };
        match () {
            () if [&facts.read, &facts.written].iter().any(|touched| self.may_be_undefined(host, launch, touched)) => {
                Follows::All
            }
            // What a kernel allocates may be anywhere.
            () if facts.allocates => Follows::All,
            () if !facts.follows_shared && !facts.follows_local => Follows::Nothing,
            () if are_apart(host, launch, &facts.read, &facts.written) => Follows::Shared,
            () => Follows::All,
        }
    }

    /// Whether something is undefined in what a launch touches.
    fn may_be_undefined(&self, host: &dyn Host, launch: &LaunchView<'_>, touched: &Touched) -> bool {
        /// A pointer may be to the element before the first, for who counts from one.
        const BESIDE: u64 = quarantine::REDZONE / 2;
        let mut suspects = self.suspects();
        if suspects.is_empty() {
            return false;
        }
        let mut starts: Vec<u64> = match touched {
            Touched::Only(accessed) => {
                let addresses = accessed.iter().filter_map(|accessed| address_of(host, launch, accessed));
                let around = |address: u64| suspects.overlapping(address.saturating_sub(BESIDE), 2 * BESIDE);
                addresses.flat_map(|address| around(address).collect::<Vec<_>>()).collect()
            }
            _ => suspects.starts().collect(),
        };
        starts.dedup();
        starts.into_iter().any(|start| self.is_undefined(host, &mut suspects, start))
    }

    /// A launch is not followed, because there is no shadow for the shared memory of its blocks.
    pub(super) fn lacks_shared_shadow(&self, launch: &LaunchView<'_>) {
        self.is_not_followed();
        self.count_not_followed(launch, NotFollowed::NoSharedShadow);
    }

    fn count_not_followed(&self, launch: &LaunchView<'_>, why: NotFollowed) {
        let mut all = self.not_followed.lock().unwrap_or_else(PoisonError::into_inner);
        let (launches, last) = all.entry((why, launch.kernel.to_owned())).or_insert((0, u64::MAX));
        // A launch is asked about more than once.
        *launches += usize::from(*last != launch.number);
        *last = launch.number;
    }

    /// What people are told of launches that were not followed: a sentence for each reason.
    pub(super) fn not_followed(&self) -> Vec<String> {
        /// More kernels are not named.
        const MOST_NAMES: usize = 3;
        let all = self.not_followed.lock().unwrap_or_else(PoisonError::into_inner);
        let sentence = |why: NotFollowed| {
            let of_reason = || all.iter().filter(move |((reason, _), _)| *reason == why);
            let launches: usize = of_reason().map(|(_, (launches, _))| launches).sum();
            let mut names: Vec<String> = of_reason()
                .take(MOST_NAMES)
                .map(|((_, kernel), _)| format!("`{}`", report::demangled(kernel)))
                .collect();
            let kernels = of_reason().count();
            if kernels > MOST_NAMES {
                names.push(format!("and {} more", kernels - MOST_NAMES));
            }
            (launches > 0).then(|| {
                format!(
                    "undefined values were not followed in {launches} launch{}, of {}: {}",
                    if launches == 1 { "" } else { "es" },
                    names.join(", "),
                    why.why()
                )
            })
        };
        [NotFollowed::Opaque, NotFollowed::NoSharedShadow].into_iter().filter_map(sentence).collect()
    }

    /// The words of a launch.
    pub(super) fn words(&self, words: &mut Words<'_>, facts: Option<&KernelFacts>) {
        words.set(DEFINED_DISTANCE, self.global.address().wrapping_sub(self.arena.0));
        if let Some(shared) = &self.shared {
            words.set(SHARED_DISTANCE, shared.address().wrapping_sub(self.windows.0));
        }
        words.set(WINDOWS, self.windows.0);
        let is_followed = facts.is_some_and(|facts| facts.follows_shared);
        words.set(WINDOWS_BYTES, if is_followed { self.windows.1 } else { 0 });
        words.set(UNDEFINED_MEMORY, self.is_memory_undefined.address());
    }

    /// What is reported of a copy of undefined memory to the host, once for each place.
    pub(super) fn output(
        &self,
        undefined: u64,
        bytes: u64,
        object: Option<Described>,
        stack: &HostStack,
    ) -> Option<Finding> {
        let frames: Stack = stack.frames();
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if !reported.insert(format!("{frames:?}")) {
            return None;
        }
        let note = object.map(|object| Note {
            message: format!(
                "the first undefined byte is at offset {} in {}",
                undefined - object.start,
                super::super::findings::described(&object)
            ),
            stack: object.stack,
        });
        let message = format!("a copy of {bytes} bytes to the host has undefined bytes in it");
        Some(Finding {
            notes: note.into_iter().collect(),
            help: Some("write what the host reads, or copy less; padding does no harm".to_owned()),
            stack: Some(frames),
            ..Finding::new("memcheck", "undefined-output", Severity::Warning, message)
        })
    }
}

/// Tells Valgrind that memory of the host is defined.
fn define_host(host: &dyn Host, to: u64, bytes: u64) {
    let zeros = vec![0; bytes.min(PIECE) as usize];
    for done in (0..bytes).step_by(PIECE as usize) {
        host.set_undefined_bits(to + done, &zeros[..(bytes - done).min(PIECE) as usize]);
    }
}

/// Whether the host can write memory by itself.
fn is_of_host(kind: &AllocationKind) -> bool {
    matches!(kind, AllocationKind::Managed | AllocationKind::Pinned | AllocationKind::Registered)
}

/// What a launch accesses through its parameters. Of a kernel that may access anything, all that they point into.
pub(super) fn used_by_launch(launch: &LaunchView<'_>, facts: Option<&KernelFacts>) -> Vec<u64> {
    let all = || {
        let pointers = launch.layout.iter().enumerate().filter(|(_, (_, bytes))| *bytes == 8);
        pointers.filter_map(|(param, _)| launch.pointer(param, 0)).collect()
    };
    let Some(KernelFacts { read: Touched::Only(read), written: Touched::Only(written), .. }) = facts else {
        return all();
    };
    let pointer = |accessed: &Accessed| match accessed {
        Accessed::Param { param, offset } => launch.pointer(*param, *offset),
        Accessed::Variable(_) => None,
    };
    let mut used: Vec<u64> = read.iter().chain(written).filter_map(pointer).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Where something begins that a launch touches, or points into.
fn address_of(host: &dyn Host, launch: &LaunchView<'_>, accessed: &Accessed) -> Option<u64> {
    match accessed {
        Accessed::Param { param, offset } => launch.pointer(*param, *offset),
        Accessed::Variable(name) => {
            let is_it =
                |object: &Object| matches!(&object.kind, AllocationKind::Variable(variable) if **variable == **name);
            host.objects().find(is_it).map(|object| object.start)
        }
    }
}

/// Whether a launch writes none of the objects that it reads. Of a pointer that points into none nothing is known.
fn are_apart(host: &dyn Host, launch: &LaunchView<'_>, read: &Touched, written: &Touched) -> bool {
    let starts = |touched: &Touched| -> Option<Vec<u64>> {
        let Touched::Only(all) = touched else { return None };
        let start = |accessed| {
            let address = address_of(host, launch, accessed)?;
            host.objects().pointed_to(address).map(|object| object.start)
        };
        all.iter().map(start).collect()
    };
    match (starts(read), starts(written)) {
        (Some(read), Some(written)) => read.iter().all(|start| !written.contains(start)),
        _ => false,
    }
}
