//! Objects that parameters point into: their bounds are two words of the kernel in the launch context.

use ptx::ir::{Operand, Param, Reg, StmtId, Var};
use ptx::types::Type;
use rewrite::{Access, Cursor, KernelWord};
use rustc_hash::FxHashMap;
use toolkit::LaunchView;
use toolkit::objects::{Objects, permissions};

use super::allowed::AllowedLanes;
use super::kernel_facts::KernelFacts;
use super::shadows::Shadows;
use super::version::{Bounds, Version};

/// A parameter of a kernel that is a pointer, and whose object the launch looks up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PointerSlot {
    /// The parameter, counted from 0.
    param: usize,
    /// Where in it the pointer is.
    offset: u32,
    /// What the pointer must be a multiple of: accesses rely on it.
    align: u32,
    /// How many bytes the object must have: checks subtract so many from its size, and rely on it.
    bytes: u32,
    /// Where the object begins, and how many bytes it has.
    words: [KernelWord; 2],
    /// The registers with the two.
    bounds: [Reg; 2],
}

/// What memcheck keeps of a function.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// The version of the function.
    pub(super) version: Option<Version>,
    /// Of a kernel.
    pub(super) slots: Vec<PointerSlot>,
    /// Where accesses are allowed that were looked at.
    found: FxHashMap<StmtId, AllowedLanes>,
    /// The shadows of its registers, if undefined values are followed.
    pub(super) shadows: Option<Shadows>,
    /// What a kernel does with memory, if undefined values are followed.
    pub(super) facts: Option<KernelFacts>,
}

/// The most slots of a kernel.
const MOST_SLOTS: usize = 240;
/// The lower bound of a slot whose pointer points to nothing that is known, so that it says nothing: no device has
/// memory there.
pub(super) const NO_OBJECT: u64 = 1 << 63;
/// The size of the object of such a slot. It is as large as the largest access, so that sizes can be subtracted.
pub(super) const NO_OBJECT_BYTES: u64 = MOST_BYTES as u64;
/// The largest access that is compared with the bounds of a slot.
pub(super) const MOST_BYTES: u32 = 32;
/// Where in the lower bound of a small object its size is.
pub(super) const SMALL_OBJECT_BYTES: u32 = 58;

/// The lower bound of a slot whose object is smaller than checks rely on. Like [`NO_OBJECT`] it is after all memory,
/// and the slot has [`NO_OBJECT_BYTES`], so that every access is looked at closely: by the address in bits 0 to 57 and the
/// size in bits 58 to 62.
fn small_object(start: u64, bytes: u64) -> u64 {
    assert!(
        start < 1 << SMALL_OBJECT_BYTES && bytes < NO_OBJECT_BYTES,
        "{bytes} bytes at {start:#x} are no small object"
    );
    NO_OBJECT | bytes << SMALL_OBJECT_BYTES | start
}

impl PointerSlot {
    /// The words of the launch context, and what they are for a launch.
    pub(super) fn words(&self, objects: &Objects, launch: &LaunchView<'_>) -> [(KernelWord, u64); 2] {
        let (low, size) = self.bounds(objects, launch);
        [(self.words[0], low), (self.words[1], size)]
    }

    /// The bounds of the object that the parameter points into.
    fn bounds(&self, objects: &Objects, launch: &LaunchView<'_>) -> (u64, u64) {
        let none = (NO_OBJECT, NO_OBJECT_BYTES);
        let Some(pointer) = launch.pointer(self.param, self.offset) else { return none };
        let align = u64::from(self.align);
        match objects.pointed_to(pointer) {
            Some(object)
                if object.permissions == permissions::ALL
                    && launch.device.may_access(object.access)
                    && pointer.is_multiple_of(align)
                    && object.start.is_multiple_of(align) =>
            {
                let (start, bytes) = objects.reach(object);
                if bytes < self.bytes.into() { (small_object(start, bytes), NO_OBJECT_BYTES) } else { (start, bytes) }
            }
            _ => none,
        }
    }
}

/// Where the object begins that a parameter points into, and how many bytes it has. Nothing for what is no parameter
/// of the kernel, and if the kernel has too many.
pub(super) fn bounds(at: &mut Cursor<'_, '_>, var: Var, offset: i32, align: u32) -> Option<[Reg; 2]> {
    let param = at.editor().function().params.iter().position(|param| *param == Param::Var(var))?;
    let offset = u32::try_from(offset).ok()?;
    let slots = &mut at.state::<Checked>().slots;
    if let Some(slot) = slots.iter_mut().find(|slot| slot.param == param && slot.offset == offset) {
        slot.align = slot.align.max(align);
        return Some(slot.bounds);
    }
    if slots.len() == MOST_SLOTS {
        return None;
    }
    let ((start, low), (bytes, size)) = (at.kernel_word()?, at.kernel_word()?);
    let (words, bounds) = ([start, bytes], [low, size]);
    at.state::<Checked>().slots.push(PointerSlot { param, offset, align, bytes: 0, words, bounds });
    Some(bounds)
}

/// How far from the beginning of an object some bytes may begin to be within it, up to [`MOST_BYTES`]; the bounds are
/// those of a slot.
pub(super) fn max_offset(at: &mut Cursor<'_, '_>, bounds: [Reg; 2], bytes: u32) -> Reg {
    assert!(bytes <= MOST_BYTES, "no launch makes sure that objects have {bytes} bytes");
    let slots = &mut at.state::<Checked>().slots;
    let slot = slots.iter_mut().find(|slot| slot.bounds == bounds).expect("the bounds are of a slot");
    slot.bytes = slot.bytes.max(bytes);
    at.at_entry("sub.u64", Type::B64, &[bounds[1].into(), Operand::Int(bytes.into())])
}

/// What was found of an access before: of an earlier one that covers it, or that it is in a group with; before the launch, if
/// all are known to be in bounds.
pub(super) fn found_before(at: &mut Cursor<'_, '_>, access: &Access) -> Option<AllowedLanes> {
    let Checked { found, version, .. } = at.state::<Checked>();
    if version.is_some_and(|version| version.bounds == Bounds::Proved) {
        return Some(AllowedLanes::Always);
    }
    let of = |stmt| found.get(&stmt).copied();
    access.covered_by.and_then(of).or_else(|| access.group.and_then(|_| of(access.stmt)))
}

/// Keeps what was found of an access, for itself and later ones that it covers.
pub(super) fn keep_found(at: &mut Cursor<'_, '_>, access: &Access, allowed: AllowedLanes) {
    at.state::<Checked>().found.insert(access.stmt, allowed);
}
