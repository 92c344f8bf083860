//! Which modules a path leads through, and which one holds what it names: re-exports are followed to the definition.

use crate::modules::Crate;

/// What a path names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Module(usize),
    /// Something else, and the module that holds it.
    Item(usize),
}

#[derive(Debug)]
pub(crate) struct Found {
    /// The modules that the path names on the way, in its order.
    pub(crate) through: Vec<usize>,
    pub(crate) target: Target,
}

/// What is being looked up: a name that leads to itself is of another crate, as in `use regex::regex`.
type Visiting = Vec<(usize, String, bool)>;

impl Crate {
    /// Follows a path that is written in `module`; none if it leads to another crate.
    pub(crate) fn resolve(&self, module: usize, path: &[String]) -> Option<Found> {
        self.follow(module, path, &mut Vec::new())
    }

    /// Whether `name` is in the scope of `module` by a `use …::*` alone.
    pub(crate) fn is_from_glob(&self, module: usize, name: &str) -> bool {
        let found = &self.modules[module];
        !found.items.contains(name)
            && !found.children.contains_key(name)
            && !found.imports.iter().any(|import| import.name.as_deref() == Some(name))
    }

    /// Whether the first name of a path, which is not its last, is a module.
    pub(crate) fn begins_with_module(&self, module: usize, path: &[String]) -> bool {
        path.len() > 1 && self.resolve(module, path).is_some_and(|found| !found.through.is_empty())
    }

    fn follow(&self, module: usize, path: &[String], visiting: &mut Visiting) -> Option<Found> {
        let mut through = Vec::new();
        let mut target = Target::Module(module);
        for (at, name) in path.iter().enumerate() {
            let Target::Module(here) = target else { break };
            target = match name.as_str() {
                "crate" => Target::Module(0),
                "self" => target,
                "super" => Target::Module(self.modules[here].parent?),
                _ => match self.look_up(here, name, at + 1 < path.len(), at == 0, visiting) {
                    Some(target) => target,
                    None if at == 0 => return None,
                    // A macro defines it.
                    None => Target::Item(here),
                },
            };
            if let Target::Module(module) = target {
                through.push(module);
            }
        }
        Some(Found { through, target })
    }

    /// A module and something else may have the same name; only modules go on with `::` and a name in lower case.
    fn look_up(
        &self,
        module: usize,
        name: &str,
        goes_on: bool,
        from_inside: bool,
        visiting: &mut Visiting,
    ) -> Option<Target> {
        let key = (module, name.to_owned(), goes_on);
        if visiting.contains(&key) {
            return None;
        }
        visiting.push(key);
        let found = &self.modules[module];
        let child = found.children.get(name).map(|&child| Target::Module(child));
        let item = found.items.contains(name).then_some(Target::Item(module));
        let (by_name, globs): (Vec<_>, Vec<_>) = found
            .imports
            .iter()
            .filter(|import| !import.is_local || from_inside)
            .filter(|import| import.name.as_deref().is_none_or(|imported| imported == name))
            .partition(|import| import.name.is_some());
        let mut target = if goes_on { child.or(item) } else { item };
        for import in by_name {
            target = target.or_else(|| Some(self.follow(module, &import.path, visiting)?.target));
        }
        target = target.or(child);
        for glob in globs {
            target = target.or_else(|| match self.follow(module, &glob.path, visiting)?.target {
                Target::Module(glob) => self.look_up(glob, name, goes_on, false, visiting),
                // Variants of an enum.
                Target::Item(_) => None,
            });
        }
        visiting.pop();
        target
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Where `path`, written in `crate::a`, leads: modules as they are, and items as `the module: item`.
    fn resolved(root: &str, a: &str, path: &str) -> Option<String> {
        let files = [("src/lib.rs", root), ("src/a.rs", a)];
        let read = Crate::read(&files.map(|(path, text)| (path.into(), text.into())).into(), Path::new("src/lib.rs"));
        let path: Vec<_> = path.split("::").map(str::to_owned).collect();
        let a = read.modules[0].children["a"];
        Some(match read.resolve(a, &path)?.target {
            Target::Module(module) => read.modules[module].path.clone(),
            Target::Item(module) => format!("{}: item", read.modules[module].path),
        })
    }

    #[test]
    fn paths_lead_to_definitions() {
        let root = "mod a; mod b { pub fn f() {} pub mod c { pub struct S; } }";
        for (path, expected) in [
            ("crate::b", "crate::b"),
            ("super::b::f", "crate::b: item"),
            ("crate::b::c::S::new", "crate::b::c: item"),
            ("self::super::b::c", "crate::b::c"),
            ("crate::b::made_by_a_macro", "crate::b: item"),
        ] {
            assert_eq!(resolved(root, "", path).as_deref(), Some(expected), "{path}");
        }
        assert_eq!(resolved(root, "", "std::mem::swap"), None);
    }

    #[test]
    fn reexports_are_followed() {
        let root = "mod a; mod b { mod c { pub struct S; } pub use c::S as T; } pub use b::T; use b as d;";
        assert_eq!(resolved(root, "", "crate::T").as_deref(), Some("crate::b::c: item"));
        assert_eq!(resolved(root, "", "super::d::T").as_deref(), Some("crate::b::c: item"));
        assert_eq!(resolved(root, "use crate::b as e;", "e::T").as_deref(), Some("crate::b::c: item"));
    }

    #[test]
    fn globs_are_followed() {
        let root = "mod a; mod b { mod c { pub struct S; } pub use c::*; } pub use b::*;";
        assert_eq!(resolved(root, "", "crate::S").as_deref(), Some("crate::b::c: item"));
        assert_eq!(resolved(root, "use super::*;", "S").as_deref(), Some("crate::b::c: item"));
        assert_eq!(resolved(root, "use super::*;", "Q"), None);
    }

    #[test]
    fn names_that_lead_to_themselves_end() {
        assert_eq!(resolved("mod a;", "use x::x; use y::z; use z::y; use super::*;", "x::w"), None);
        assert_eq!(resolved("mod a; pub use a::*;", "pub use super::*;", "q"), None);
    }

    #[test]
    fn functions_may_be_named_like_their_modules() {
        let root = "mod a; mod b { pub fn b() {} pub fn other() {} } pub use b::b;";
        assert_eq!(resolved(root, "", "crate::b").as_deref(), Some("crate::b: item"));
        assert_eq!(resolved(root, "", "crate::b::other").as_deref(), Some("crate::b: item"));
    }
}
