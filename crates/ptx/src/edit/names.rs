//! Names that are still free.
//!
//! PTX has one name space for registers, labels, variables and functions, inner scopes hide outer names, and a group
//! `%r<100>` takes all of `%r0` to `%r99`. What an edit makes is declared at the top of a function and used anywhere
//! in it, so its name must not occur in the function at all, in whatever scope.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{FuncId, Function, Module};
use crate::name::{Name, Names};

/// The names that are taken in a function, those of the module included.
#[derive(Clone, Debug, Default)]
pub(super) struct UsedNames {
    names: FxHashSet<Name>,
    /// The names of groups with numbers: `%r` for `%r<100>`.
    groups: FxHashSet<Name>,
    /// What stands before the number at the end of the other names: `L` for `L12`. A group must not be called so.
    prefixes: FxHashSet<Name>,
    /// The last number that was tried after a name.
    tried: FxHashMap<Name, u32>,
    /// How many variables and functions of the module are among the names.
    globals: usize,
    functions: usize,
}

/// A name, and whether it is that of a group `%r<100>`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) name: Name,
    pub(super) is_numbered: bool,
}

impl UsedNames {
    /// The names of variables and functions of the module.
    pub(super) fn of_module(module: &mut Module) -> Self {
        let mut used = Self::default();
        used.add_new_of_module(module);
        used
    }

    /// Takes the names of variables and functions that were added to the module since.
    pub(super) fn add_new_of_module(&mut self, module: &mut Module) {
        let Module { names, globals, functions, .. } = module;
        for variable in globals.values().skip(self.globals) {
            self.add(names, variable.name);
        }
        for function in functions.values().skip(self.functions) {
            self.add(names, function.name);
        }
        self.globals = globals.len();
        self.functions = functions.len();
    }

    /// All names that are taken in a function, in any scope.
    pub(super) fn of_function(module: &mut Module, func: FuncId) -> Self {
        let mut used = Self::of_module(module);
        let Module { names, functions, .. } = module;
        let Function { groups, vars, labels, .. } = &functions[func];
        for group in groups.values() {
            used.add_named(names, Named { name: group.name, is_numbered: group.count.is_some() });
        }
        let others = vars.values().map(|variable| variable.name).chain(labels.values().map(|label| label.name));
        for name in others {
            used.add(names, name);
        }
        used
    }

    /// Takes the name of anything but a group of registers.
    pub(super) fn add(&mut self, names: &mut Names, name: Name) {
        if self.names.insert(name)
            && let Some(prefix) = before_number(names.text(name))
        {
            let prefix = prefix.to_owned();
            self.prefixes.insert(names.intern(&prefix));
        }
    }

    /// Takes the name of anything, perhaps of a group of registers.
    pub(super) fn add_named(&mut self, names: &mut Names, Named { name, is_numbered }: Named) {
        if is_numbered {
            self.names.insert(name);
            self.groups.insert(name);
        } else {
            self.add(names, name);
        }
    }

    /// Whether the name can be given to anything but a group of registers.
    pub(super) fn is_free(&self, names: &Names, name: Name) -> bool {
        let is_of_group = || {
            let prefix = before_number(names.text(name)).and_then(|prefix| names.find(prefix));
            prefix.is_some_and(|prefix| self.groups.contains(&prefix))
        };
        !self.names.contains(&name) && !is_of_group()
    }

    /// Whether the name can be given to a group of any number of registers.
    pub(super) fn is_free_for_group(&self, names: &Names, name: Name) -> bool {
        let ends_in_digit = names.text(name).ends_with(|c: char| c.is_ascii_digit());
        !ends_in_digit && !self.names.contains(&name) && !self.prefixes.contains(&name)
    }

    /// Whether `name` followed by a number is the name of something else than a register of the group `name`.
    pub(super) fn is_prefix(&self, name: Name) -> bool {
        self.prefixes.contains(&name)
    }

    /// Takes `base`, or if that is taken `base_1`, `base_2` and so on.
    pub(super) fn fresh(&mut self, names: &mut Names, base: &str) -> Name {
        let name = self.first_free(names, base, "", Self::is_free);
        self.add(names, name);
        name
    }

    /// Takes `base` for a group, or if that is taken `base_1_`, `base_2_` and so on: a number follows.
    pub(super) fn fresh_group(&mut self, names: &mut Names, base: &str) -> Name {
        let name = self.first_free(names, base, "_", Self::is_free_for_group);
        self.add_named(names, Named { name, is_numbered: true });
        name
    }

    fn first_free(
        &mut self,
        names: &mut Names,
        base: &str,
        end: &str,
        is_free: impl Fn(&Self, &Names, Name) -> bool,
    ) -> Name {
        let name = names.intern(base);
        if is_free(self, names, name) {
            return name;
        }
        loop {
            let tried = self.tried.entry(name).or_insert(0);
            *tried += 1;
            let between = if base.ends_with('_') { "" } else { "_" };
            let candidate = names.intern(&format!("{base}{between}{tried}{end}"));
            if is_free(self, names, candidate) {
                return candidate;
            }
        }
    }
}

/// What stands before the number at the end of a name, if `prefix<n>` could declare a register of that name.
pub(super) fn before_number(name: &str) -> Option<&str> {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[prefix.len()..];
    let is_number = !digits.is_empty() && (digits == "0" || !digits.starts_with('0'));
    (is_number && !prefix.is_empty()).then_some(prefix)
}
