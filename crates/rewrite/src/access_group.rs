//! Accesses of a basic block through one pointer.
//!
//! An unrolled loop reads `[%rd1]`, `[%rd1+4]`, `[%rd1+8]`. Whoever executes the first of them executes the others, and
//! all of them are within an object if the bytes from the lowest to the highest are. So a tool can look at them together,
//! when the first is about to happen.

use ptx::ir::{Guard, Operand, Reg};
use ptx::ops::Effect;
use ptx::view::{AccessSpace, View};

use crate::constant_sums::ConstantSums;
use crate::event::{Access, AccessGroupId};

/// Accesses at constant distances from each other, under one condition. From the first to the last, threads neither end
/// nor wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessGroup {
    /// The register that all addresses are made from. At the first access it has the value that counts.
    pub base: Reg,
    /// The accesses, in the order of the text.
    pub members: Vec<Member>,
}

/// An access of an [`AccessGroup`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// The access.
    pub access: Access,
    /// What its address adds to the base.
    pub offset: i32,
}

/// The groups of a function, while its text is read.
#[derive(Debug, Default)]
pub(crate) struct AccessGroups {
    groups: Vec<AccessGroup>,
    /// Those that may still grow.
    open: Vec<Open>,
    sums: ConstantSums,
}

#[derive(Debug)]
struct Open {
    id: AccessGroupId,
    base: Reg,
    guard: Option<Guard>,
    space: AccessSpace,
}

/// More groups than this do not grow at a time.
const MOST_OPEN: usize = 64;

impl AccessGroups {
    /// Adds an access, and gives its group. Of an access that is not the only one of its instruction, nothing is said.
    pub(crate) fn add(&mut self, address: Operand, access: Access) -> Option<AccessGroupId> {
        let (base, offset) = self.sums.resolve(address)?;
        let (guard, space) = (access.guard, access.access.space);
        let is_it = |open: &&Open| open.base == base && open.guard == guard && open.space == space;
        let id = match self.open.iter().find(is_it) {
            Some(open) => open.id,
            None => {
                let id = AccessGroupId(self.groups.len() as u32);
                self.groups.push(AccessGroup { base, members: Vec::new() });
                if self.open.len() == MOST_OPEN {
                    self.open.remove(0);
                }
                self.open.push(Open { id, base, guard, space });
                id
            }
        };
        let access = Access { group: Some(id), ..access };
        self.groups[id.0 as usize].members.push(Member { access, offset });
        Some(id)
    }

    /// Goes after an instruction.
    pub(crate) fn pass(&mut self, view: &View<'_>) {
        if may_end_or_wait(view) {
            return self.end();
        }
        view.for_each_write(|reg| {
            self.open.retain(|open| open.base != reg && open.guard.is_none_or(|guard| guard.reg != reg));
        });
        self.sums.pass(view);
    }

    /// What follows may be executed without what came before, or the other way round.
    pub(crate) fn end(&mut self) {
        self.open.clear();
        self.sums.clear();
    }

    pub(crate) fn get(&self, id: AccessGroupId) -> &AccessGroup {
        &self.groups[id.0 as usize]
    }
}

/// Whether threads may not get after an instruction, or not at once.
fn may_end_or_wait(view: &View<'_>) -> bool {
    let goes_on = matches!(
        view.effect(),
        Some(
            Effect::Pure
                | Effect::Load
                | Effect::Store
                | Effect::Atomic
                | Effect::AsyncCopy
                | Effect::Fence
                | Effect::TextureLoad
                | Effect::SurfaceStore
                | Effect::TextureQuery
                | Effect::Hint
        )
    );
    !goes_on || view.is_collective()
}
