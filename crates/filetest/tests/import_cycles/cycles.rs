//! Cycles of imports among the children of a module.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use crate::modules::Crate;
use crate::resolve::Target;

/// How many lines are shown for one edge of a cycle.
const PLACES_SHOWN: usize = 2;

/// Siblings each of which imports from each other, perhaps by way of a third.
#[derive(Debug)]
pub(crate) struct Cycle {
    /// The module whose children they are.
    parent: String,
    /// Full paths, in the order of the alphabet.
    pub(crate) modules: Vec<String>,
    /// The imports among them, by names within the parent.
    edges: BTreeMap<(String, String), Places>,
}

/// Edges between siblings.
type Edges = BTreeMap<(usize, usize), Places>;

/// What is imported in each line of a file.
type Places = BTreeMap<(PathBuf, usize), BTreeSet<Imported>>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Imported {
    path: String,
    /// The module that holds what the path names, where the path does not say so.
    holder: Option<String>,
}

impl Crate {
    pub(crate) fn cycles(&self) -> Vec<Cycle> {
        let edges = self.edges();
        let mut cycles = Vec::new();
        let mut done = BTreeSet::<usize>::new();
        for &(from, _) in edges.keys() {
            if done.contains(&from) {
                continue;
            }
            let component: BTreeSet<_> =
                reachable(&edges, from).into_iter().filter(|&to| reachable(&edges, to).contains(&from)).collect();
            done.extend(&component);
            if component.len() > 1 {
                cycles.push(self.cycle(&component, &edges));
            }
        }
        cycles.sort_by(|a, b| a.modules.cmp(&b.modules));
        cycles
    }

    fn cycle(&self, component: &BTreeSet<usize>, edges: &Edges) -> Cycle {
        let member = component.first().expect("a component has members");
        let parent = self.modules[*member].parent.expect("siblings have a parent");
        let parent = self.modules[parent].path.clone();
        let short = |module: &usize| self.modules[*module].path[parent.len() + 2..].to_owned();
        let mut modules: Vec<_> = component.iter().map(|&module| self.modules[module].path.clone()).collect();
        modules.sort();
        let edges = edges
            .iter()
            .filter(|((from, to), _)| component.contains(from) && component.contains(to))
            .map(|((from, to), places)| ((short(from), short(to)), places.clone()))
            .collect();
        Cycle { parent, modules, edges }
    }

    /// The edges that imports and paths make, at every level of the tree.
    fn edges(&self) -> Edges {
        let mut edges = Edges::new();
        for (from, module) in self.modules.iter().enumerate() {
            let imports = module.imports.iter().map(|import| (&import.path, import.line, import.name.is_none()));
            // A name that an import brought counts where it is imported, one that `*` brought where it is used.
            let mentions = module.mentions.iter().filter(|mention| {
                self.is_from_glob(from, &mention.path[0]) || self.begins_with_module(from, &mention.path)
            });
            let mentions = mentions.map(|mention| (&mention.path, mention.line, false));
            for (path, line, is_glob) in imports.chain(mentions) {
                let Some(found) = self.resolve(from, path) else { continue };
                let (Target::Module(holder) | Target::Item(holder)) = found.target;
                for &to in found.through.iter().chain([&holder]) {
                    let Some(edge) = self.siblings(from, to) else { continue };
                    let is_said = found.through.last() == Some(&holder);
                    let imported = Imported {
                        path: path.join("::") + if is_glob { "::*" } else { "" },
                        holder: (!is_said).then(|| self.modules[holder].path.clone()),
                    };
                    edges.entry(edge).or_default().entry((module.file.clone(), line)).or_default().insert(imported);
                }
            }
        }
        edges
    }

    /// The children of the closest common ancestor in which the two are; none if one is an ancestor of the other.
    fn siblings(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let lineage = |module: usize| {
            let mut lineage: Vec<_> =
                std::iter::successors(Some(module), |&module| self.modules[module].parent).collect();
            lineage.reverse();
            lineage
        };
        lineage(from).into_iter().zip(lineage(to)).find(|(from, to)| from != to)
    }
}

fn reachable(edges: &Edges, from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([from]);
    let mut pending = vec![from];
    while let Some(module) = pending.pop() {
        for &(_, to) in edges.range((module, 0)..=(module, usize::MAX)).map(|(edge, _)| edge) {
            if reached.insert(to) {
                pending.push(to);
            }
        }
    }
    reached
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short: Vec<_> = self.modules.iter().map(|module| &module[self.parent.len() + 2..]).collect();
        writeln!(f, "children of {} import each other in a cycle: {}", self.parent, short.join(", "))?;
        for ((from, to), places) in &self.edges {
            writeln!(f, "  {from} -> {to}")?;
            for ((file, line), imported) in places.iter().take(PLACES_SHOWN) {
                let imported: Vec<_> = imported.iter().map(Imported::to_string).collect();
                writeln!(f, "    {}:{line} imports {}", file.display(), imported.join(", "))?;
            }
            if places.len() > PLACES_SHOWN {
                writeln!(f, "    and {} more", places.len() - PLACES_SHOWN)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        match &self.holder {
            Some(holder) => write!(f, " (held by {holder})"),
            None => Ok(()),
        }
    }
}
