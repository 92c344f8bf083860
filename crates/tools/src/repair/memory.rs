//! What the check of a launch takes of memory, beside what the algorithm of ARCAV would.
//!
//! Ours is a copy of what the launch may write, and the records of its granules. ARCAV has two more copies, and four bytes for
//! each element. An element is as large as the smallest access here, and shared memory is that of one block.
//! Both count whole objects; of ours, pages of records that no access touches take nothing.

use rustc_hash::FxHashSet;
use toolkit::{Accessed, AllocationKind, LaunchView, Objects, Touched};

use super::instrument::Kept;
use super::kernel_facts::KernelFacts;

/// Bytes of a record.
const RECORD: u64 = 8;

/// How many bytes a launch takes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct LaunchMemory {
    pub(super) ours: u64,
    pub(super) arcav: u64,
}

impl LaunchMemory {
    pub(super) fn of(launch: &LaunchView<'_>, objects: &Objects, kept: &Kept, facts: &KernelFacts) -> Self {
        let global = kept.written.as_ref().map_or(0, |written| bytes_of(written, launch, objects));
        let shared = launch.static_shared + u64::from(launch.shape.dynamic_shared);
        Self::of_bytes(global, shared, facts.granules(), kept.planes())
    }

    /// Of so many bytes of global and shared memory, with granules of a size that is a power of two, and so many records each.
    fn of_bytes(global: u64, shared: u64, granules: [u32; 2], records: u64) -> Self {
        let elements = (global >> granules[0]) + (shared >> granules[1]);
        Self { ours: global + elements * records * RECORD, arcav: 2 * (global + shared) + 4 * elements }
    }

    /// The larger ones.
    pub(super) fn max(self, other: Self) -> Self {
        Self { ours: self.ours.max(other.ours), arcav: self.arcav.max(other.arcav) }
    }
}

/// How many bytes the objects have that a launch may write.
fn bytes_of(written: &Touched, launch: &LaunchView<'_>, objects: &Objects) -> u64 {
    let mut bytes = 0;
    match written {
        Touched::Anything => {
            objects.find(|object| {
                bytes += if object.kind.is_outside() { 0 } else { object.bytes };
                false
            });
        }
        Touched::Only(written) => {
            let mut seen = FxHashSet::default();
            for accessed in written {
                let object = match accessed {
                    Accessed::Param { param, offset } => {
                        launch.pointer(*param, *offset).and_then(|pointer| objects.pointed_to(pointer))
                    }
                    Accessed::Variable(name) => objects.find(
                        |object| matches!(&object.kind, AllocationKind::Variable(variable) if **variable == **name),
                    ),
                };
                bytes += object.filter(|object| seen.insert(object.start)).map_or(0, |object| object.bytes);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_records() {
        // Integers, with records of writes and reads; ARCAV has three times the array, as its paper says.
        let memory = LaunchMemory::of_bytes(1 << 20, 0, [2, 2], 2);
        assert_eq!(memory, LaunchMemory { ours: 5 << 20, arcav: 3 << 20 });
        // Bytes in shared memory, which is not copied.
        let memory = LaunchMemory::of_bytes(0, 64, [2, 0], 3);
        assert_eq!(memory, LaunchMemory { ours: 64 * 24, arcav: 64 * 6 });
    }
}
