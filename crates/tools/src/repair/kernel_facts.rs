//! What a kernel does, as far as its text says.

use ptx::analysis::CallGraph;
use ptx::form::Form;
use ptx::ir::{FuncId, Module, Reg, StmtId};
use ptx::ops::{Effect, Mod};
use ptx::synchronisation::Synchronisation;
use ptx::types::{Space, Type, TypeKind};
use ptx::view::{AccessBytes, AccessSpace, MemAccess, View};
use rustc_hash::FxHashSet;

use super::BYTES;

/// What a kernel and all functions that it calls do.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelFacts {
    pub(super) has_barriers: bool,
    /// Whether lanes of a warp meet.
    pub(super) has_meetings: bool,
    /// The smallest accesses, in bytes: to global or generic memory, and to shared or generic memory.
    smallest: [Option<u32>; 2],
    /// The atomic operation whose order among others of the same does not matter, and which is looked for.
    reduction: Option<Reduction>,
    /// Whether there is an atomic operation whose order does matter.
    pub(super) has_ordered_atomics: bool,
}

/// An atomic operation, and its type.
type Reduction = (Mod, Type);

impl KernelFacts {
    /// Of a kernel.
    pub(super) fn of(module: &Module, kernel: FuncId) -> Self {
        let mut facts = Self::default();
        CallGraph::of(module).reachable_from(kernel).iter().for_each(|func| facts.add(module, func));
        facts
    }

    /// Adds what a function does.
    fn add(&mut self, module: &Module, func: FuncId) {
        let Some(body) = &module.functions[func].body else { return };
        let views = || body.iter().filter_map(|id| View::of(&module.forms, body, id));
        let read: FxHashSet<Reg> = views().flat_map(|view| view.reads()).collect();
        for view in views() {
            match view.synchronisation() {
                Some(Synchronisation::Barrier { .. }) => self.has_barriers = true,
                Some(Synchronisation::WarpBarrier { .. } | Synchronisation::Collective { .. }) => {
                    self.has_meetings = true;
                }
                _ => {}
            }
            if view.effect() == Some(Effect::Atomic) {
                match reduction(&view, &read) {
                    Some(own) if *self.reduction.get_or_insert(own) == own => {}
                    _ => self.has_ordered_atomics = true,
                }
            }
            for access in view.accesses() {
                let Some(Extent { places, bytes }) = Extent::of(&access) else { continue };
                let element = bytes / access.vector.max(1);
                for (smallest, _) in self.smallest.iter_mut().zip(places).filter(|(_, is_there)| *is_there) {
                    *smallest = Some(smallest.map_or(element, |smallest| smallest.min(element)));
                }
            }
        }
    }

    /// The sizes of granules of global and shared memory, as powers of two.
    pub(super) fn granules(&self) -> [u32; 2] {
        self.smallest.map(|smallest| smallest.map_or(2, |bytes| bytes.min(8).trailing_zeros()))
    }

    /// Whether records of reductions have to be looked at.
    pub(super) fn has_reductions(&self) -> bool {
        self.reduction.is_some()
    }

    /// The instructions of a function whose order among each other does not matter.
    pub(super) fn reductions(&self, module: &Module, func: FuncId) -> FxHashSet<StmtId> {
        let Some(body) = &module.functions[func].body else { return FxHashSet::default() };
        let views = || body.iter().filter_map(|id| Some((id, View::of(&module.forms, body, id)?)));
        let read: FxHashSet<Reg> = views().flat_map(|(_, view)| view.reads()).collect();
        let is_reduction = |view: &View<'_>| {
            view.effect() == Some(Effect::Atomic)
                && reduction(view, &read).is_some_and(|own| self.reduction == Some(own))
        };
        views().filter(|(_, view)| is_reduction(view)).map(|(id, _)| id).collect()
    }
}

/// An atomic operation that gives nothing which a function reads, and leaves the same behind in any order among others of
/// the same: nothing for others. Sums of floating-point numbers depend on the order.
fn reduction(view: &View<'_>, read: &FxHashSet<Reg>) -> Option<Reduction> {
    const OPERATIONS: [Mod; 6] = [Mod::Add, Mod::Min, Mod::Max, Mod::And, Mod::Or, Mod::Xor];
    let form: &Form = view.form;
    let ty = *form.types().first()?;
    let is_integer = ty.kind() != TypeKind::Float && !ty.text().contains('f');
    let is_unread = !view.writes().iter().any(|reg| read.contains(reg));
    let operation = OPERATIONS.into_iter().find(|&operation| form.has(operation))?;
    (is_integer && is_unread && form.vector() == 1).then_some((operation, ty))
}

/// Where an access is checked, and how many bytes it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Whether it may be in global memory, and in shared memory.
    pub(super) places: [bool; 2],
    pub(super) bytes: u32,
}

impl Extent {
    /// Nothing for accesses to memory that no other thread has, and for those that are not understood.
    pub(super) fn of(access: &MemAccess) -> Option<Self> {
        let places = match access.space {
            AccessSpace::State(Space::Global) => [true, false],
            AccessSpace::State(Space::Shared) => [false, true],
            AccessSpace::Generic => [true, true],
            _ => return None,
        };
        let bytes = match access.bytes {
            AccessBytes::Fixed(bytes) => bytes,
            _ => return None,
        };
        (bytes > 0 && bytes <= BYTES && bytes.is_power_of_two()).then_some(Self { places, bytes })
    }

    /// Whether an access needs no check, because no other thread has the memory, or nobody writes it.
    pub(super) fn is_private(access: &MemAccess) -> bool {
        matches!(access.space, AccessSpace::State(Space::Local | Space::Param | Space::Const))
    }
}
