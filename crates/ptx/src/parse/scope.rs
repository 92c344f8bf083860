//! What names mean at a place in the text.

use crate::entity::Id;
use crate::ir::{FuncId, Global, GroupId, Label, Reg, Var};
use crate::name::Name;

/// What a name is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Binding {
    #[default]
    Nothing,
    /// `%r<100>`: the name is what comes before the number.
    Regs(GroupId),
    /// A single register: its declaration, and its id once it was used.
    Reg(GroupId, Option<Reg>),
    Var(Var),
    Global(Global),
    Func(FuncId),
    /// A label, and how deep in braces it is defined.
    Label(Label, u32),
}

/// What a name is bound to, and in how many scopes.
#[derive(Clone, Copy, Debug, Default)]
struct Bound {
    binding: Binding,
    depth: u32,
}

/// The declaration `%r<n>` that a prefix belongs to, and in how many scopes it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberedRegs {
    pub(super) group: GroupId,
    pub(super) depth: u32,
}

/// The bindings of all names, with the memory to undo them when a scope ends.
#[derive(Default, Debug)]
pub(super) struct Scopes {
    bindings: Vec<Bound>,
    undo: Vec<(Name, Bound)>,
    marks: Vec<usize>,
    recent: RecentPrefixes,
}

/// What the prefixes of registers (`%r`, `%rd`, `%f`, …) stood for when they were last looked up. A function uses a
/// handful of them, three times in every instruction.
#[derive(Default, Debug)]
struct RecentPrefixes {
    entries: [Option<(u64, NumberedRegs)>; 8],
    next: usize,
}

/// A prefix of at most seven bytes as a number; the length is in the highest byte.
#[inline]
fn packed(prefix: &str) -> Option<u64> {
    if prefix.len() > 7 {
        return None;
    }
    let value = prefix.bytes().fold(0, |value, byte| value << 8 | u64::from(byte));
    Some(value | (prefix.len() as u64) << 56)
}

impl Scopes {
    pub(super) fn get(&self, name: Name) -> Binding {
        self.bound(name).binding
    }

    fn bound(&self, name: Name) -> Bound {
        self.bindings.get(name.index()).copied().unwrap_or_default()
    }

    /// The group of registers that a prefix stands for, if it was looked up lately.
    #[inline]
    pub(super) fn recent_group(&self, prefix: &str) -> Option<NumberedRegs> {
        let key = packed(prefix)?;
        self.recent.entries.iter().flatten().find(|(found, _)| *found == key).map(|(_, regs)| *regs)
    }

    /// The group of registers that the name of a prefix stands for. Remembered until a name is bound or a scope ends.
    pub(super) fn find_group(&mut self, prefix: &str, name: Name) -> Option<NumberedRegs> {
        let Bound { binding: Binding::Regs(group), depth } = self.bound(name) else { return None };
        let regs = NumberedRegs { group, depth };
        if let Some(key) = packed(prefix) {
            self.recent.entries[self.recent.next % 8] = Some((key, regs));
            self.recent.next += 1;
        }
        Some(regs)
    }

    /// Whether a name means something that was declared in a scope within the first `depth` ones.
    pub(super) fn is_bound_within(&self, name: Name, depth: u32) -> bool {
        let bound = self.bound(name);
        bound.binding != Binding::Nothing && bound.depth > depth
    }

    pub(super) fn bind(&mut self, name: Name, binding: Binding) {
        if !matches!(binding, Binding::Label(..)) || matches!(self.get(name), Binding::Regs(_)) {
            self.recent = RecentPrefixes::default();
        }
        if self.bindings.len() <= name.index() {
            self.bindings.resize(name.index() + 1, Bound::default());
        }
        let bound = Bound { binding, depth: self.depth() };
        let old = std::mem::replace(&mut self.bindings[name.index()], bound);
        if !self.marks.is_empty() {
            self.undo.push((name, old));
        }
    }

    /// Changes a binding without being undone: for what is learnt about a name that stays what it is.
    pub(super) fn refine(&mut self, name: Name, binding: Binding) {
        self.bindings[name.index()].binding = binding;
    }

    /// How many scopes are open.
    pub(super) fn depth(&self) -> u32 {
        self.marks.len() as u32
    }

    pub(super) fn open(&mut self) {
        self.marks.push(self.undo.len());
    }

    pub(super) fn close(&mut self) {
        self.recent = RecentPrefixes::default();
        let mark = self.marks.pop().expect("a scope is closed only after it was opened");
        for (name, old) in self.undo.drain(mark..).rev() {
            self.bindings[name.index()] = old;
        }
    }
}
