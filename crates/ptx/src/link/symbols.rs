//! What the names of the inputs stand for.

use rustc_hash::FxHashMap;

use super::{Input, LinkError};
use crate::entity::Map;
use crate::import::{Difference, difference};
use crate::ir::{FuncId, Global, Item, Module, Symbol};
use crate::name::Name;
use crate::types::Linkage;

/// A function or variable of an input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entity {
    pub(super) input: usize,
    pub(super) symbol: Symbol,
}

/// What the names of all inputs stand for.
pub(super) struct Symbols<'a> {
    /// What each function and variable of each input stands for: a definition, itself perhaps; or if there is none, the
    /// first declaration.
    functions: Vec<Map<FuncId, Entity>>,
    globals: Vec<Map<Global, Entity>>,
    /// What each input declares, in the order of its functions and variables.
    pub(super) declared: Vec<Vec<Declared>>,
    /// The alignment that variables get where it is more than they have.
    pub(super) alignments: FxHashMap<Entity, u32>,
    /// The names that mean the same in all inputs.
    pub(super) shared: FxHashMap<&'a str, Entity>,
    /// What aliases are, by input and name.
    aliases: Vec<FxHashMap<Name, FuncId>>,
}

/// A name of one input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    pub(super) name: Name,
    /// Its definition; or if there is none, the first declaration.
    pub(super) symbol: Symbol,
    pub(super) is_defined: bool,
    /// Nothing for what only its module knows.
    pub(super) strength: Option<Strength>,
}

/// Which of several definitions of a name is taken: the highest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Strength {
    Declaration,
    Weak,
    Common,
    Visible,
}

impl Symbols<'_> {
    /// What a function or variable of an input stands for. Nothing for what belongs to a function or is not declared.
    pub(super) fn meaning(&self, input: usize, symbol: Symbol) -> Option<Entity> {
        match symbol {
            Symbol::Func(func) => Some(self.functions[input][func]),
            Symbol::Global(global) => Some(self.globals[input][global]),
            Symbol::Var(_) | Symbol::Label(_) | Symbol::Undeclared(_) => None,
        }
    }

    /// The function that an alias stands for, if the entity is one.
    pub(super) fn alias_target(&self, inputs: &[Input<'_>], entity: Entity) -> Option<Entity> {
        let name = inputs[entity.input].module.name_of(entity.symbol);
        let target = *self.aliases[entity.input].get(&name)?;
        self.meaning(entity.input, Symbol::Func(target))
    }

    /// Whether there is more of it than a declaration.
    pub(super) fn is_defined(&self, inputs: &[Input<'_>], entity: Entity) -> bool {
        has_definition(inputs[entity.input].module, entity.symbol) || self.alias_target(inputs, entity).is_some()
    }
}

/// Finds out what names stand for.
pub(super) fn resolve<'a>(inputs: &[Input<'a>]) -> Result<Symbols<'a>, Vec<LinkError>> {
    let mut errors = Vec::new();
    let aliases: Vec<_> = inputs.iter().map(|input| aliases(input.module)).collect();
    let by_name: Vec<_> =
        inputs.iter().zip(&aliases).map(|(input, aliases)| declared_names(input, aliases, &mut errors)).collect();
    let mut shared: FxHashMap<&'a str, (Entity, Strength)> = FxHashMap::default();
    for (index, (input, names)) in inputs.iter().zip(&by_name).enumerate() {
        for declared in names {
            let Some(strength) = declared.strength else { continue };
            let entity = Entity { input: index, symbol: declared.symbol };
            let text = input.module.text(declared.name);
            let (chosen, best) = shared.entry(text).or_insert((entity, strength));
            if strength == Strength::Visible && *best == Strength::Visible && *chosen != entity {
                let first = inputs[chosen.input].name.to_owned();
                let second = input.name.to_owned();
                errors.push(LinkError::DefinedTwice { symbol: text.to_owned(), first, second });
            } else if strength > *best || strength == Strength::Common && is_larger(inputs, entity, *chosen) {
                (*chosen, *best) = (entity, strength);
            }
        }
    }
    let mut alignments = FxHashMap::default();
    for (index, (input, names)) in inputs.iter().zip(&by_name).enumerate() {
        for declared in names.iter().filter(|declared| declared.strength.is_some()) {
            let chosen = shared[input.module.text(declared.name)];
            let entity = Entity { input: index, symbol: declared.symbol };
            if let Some(difference) = disagreement(inputs, (entity, declared.strength), (chosen.0, Some(chosen.1))) {
                let symbol = input.module.text(declared.name).to_owned();
                let (first, second) =
                    if index < chosen.0.input { (index, chosen.0.input) } else { (chosen.0.input, index) };
                let [first, second] = [first, second].map(|input| inputs[input].name.to_owned());
                errors.push(LinkError::Disagreement { symbol, difference, first, second });
            } else if let (Symbol::Global(own), Symbol::Global(global)) = (declared.symbol, chosen.0.symbol) {
                let align = input.module.globals[own].alignment();
                let known =
                    alignments.entry(chosen.0).or_insert(inputs[chosen.0.input].module.globals[global].alignment());
                *known = align.max(*known);
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let shared: FxHashMap<&'a str, Entity> = shared.into_iter().map(|(name, (entity, _))| (name, entity)).collect();
    let meanings = |(index, names): (usize, &Vec<Declared>)| -> FxHashMap<Name, Entity> {
        let meaning = |declared: &Declared| match declared.strength {
            Some(_) => shared[inputs[index].module.text(declared.name)],
            None => Entity { input: index, symbol: declared.symbol },
        };
        names.iter().map(|declared| (declared.name, meaning(declared))).collect()
    };
    let meanings: Vec<_> = by_name.iter().enumerate().map(meanings).collect();
    let functions = inputs
        .iter()
        .zip(&meanings)
        .map(|(input, meanings)| input.module.functions.values().map(|function| meanings[&function.name]).collect());
    let globals = inputs
        .iter()
        .zip(&meanings)
        .map(|(input, meanings)| input.module.globals.values().map(|variable| meanings[&variable.name]).collect());
    let (functions, globals) = (functions.collect(), globals.collect());
    alignments.retain(|entity, align| match entity.symbol {
        Symbol::Global(global) => inputs[entity.input].module.globals[global].alignment() < *align,
        _ => false,
    });
    Ok(Symbols { functions, globals, declared: by_name, alignments, shared, aliases })
}

fn aliases(module: &Module) -> FxHashMap<Name, FuncId> {
    let alias = |item: &Item| match item {
        Item::Alias(alias) => Some((module.functions[alias.alias].name, alias.target)),
        _ => None,
    };
    module.items.iter().filter_map(alias).collect()
}

fn has_definition(module: &Module, symbol: Symbol) -> bool {
    match symbol {
        Symbol::Func(func) => module.functions[func].body.is_some(),
        Symbol::Global(global) => module.globals[global].linkage != Some(Linkage::Extern),
        Symbol::Var(_) | Symbol::Label(_) | Symbol::Undeclared(_) => false,
    }
}

/// The names of an input, in the order of its functions and variables.
fn declared_names(input: &Input<'_>, aliases: &FxHashMap<Name, FuncId>, errors: &mut Vec<LinkError>) -> Vec<Declared> {
    let module = input.module;
    let mut names: Vec<Declared> = Vec::new();
    let mut index_of: FxHashMap<Name, usize> = FxHashMap::default();
    let all = module.functions.ids().map(Symbol::Func).chain(module.globals.ids().map(Symbol::Global));
    for symbol in all {
        let name = module.name_of(symbol);
        let is_body = has_definition(module, symbol);
        // Declarations of an alias are what defines it.
        let is_defined = is_body || matches!(symbol, Symbol::Func(_)) && aliases.contains_key(&name);
        let strength = strength(module, symbol, is_defined);
        let Some(&index) = index_of.get(&name) else {
            index_of.insert(name, names.len());
            names.push(Declared { name, symbol, is_defined, strength });
            continue;
        };
        let known = &mut names[index];
        let text = module.text(name).to_owned();
        if is_body && has_definition(module, known.symbol) {
            let (first, second) = (input.name.to_owned(), input.name.to_owned());
            errors.push(LinkError::DefinedTwice { symbol: text, first, second });
        } else if let Some(difference) = difference((module, known.symbol), (module, symbol)) {
            let (first, second) = (input.name.to_owned(), input.name.to_owned());
            errors.push(LinkError::Disagreement { symbol: text, difference, first, second });
        } else if is_body {
            *known = Declared { symbol, is_defined: true, ..*known };
        }
        known.strength = known.strength.max(strength);
    }
    for declared in names.iter_mut().filter(|declared| declared.is_defined) {
        // Only a declaration says that others know it.
        if declared.strength == Some(Strength::Declaration) {
            declared.strength = Some(Strength::Visible);
        }
    }
    names
}

fn strength(module: &Module, symbol: Symbol, is_defined: bool) -> Option<Strength> {
    let is_kernel = matches!(symbol, Symbol::Func(func) if module.functions[func].is_entry());
    match module.linkage(symbol) {
        _ if !is_defined && module.linkage(symbol).is_some() => Some(Strength::Declaration),
        Some(Linkage::Extern) => Some(Strength::Declaration),
        Some(Linkage::Visible) => Some(Strength::Visible),
        Some(Linkage::Weak) => Some(Strength::Weak),
        Some(Linkage::Common) => Some(Strength::Common),
        // The host asks for kernels by their names.
        None if is_kernel && is_defined => Some(Strength::Visible),
        None if is_kernel => Some(Strength::Declaration),
        None => None,
    }
}

fn size(inputs: &[Input<'_>], entity: Entity) -> Option<u64> {
    match entity.symbol {
        Symbol::Global(global) => inputs[entity.input].module.globals[global].size(),
        _ => None,
    }
}

fn is_larger(inputs: &[Input<'_>], entity: Entity, than: Entity) -> bool {
    size(inputs, entity) > size(inputs, than)
}

/// In what a declaration and the definition that is taken for it differ, in the order of the inputs.
fn disagreement(
    inputs: &[Input<'_>],
    declared: (Entity, Option<Strength>),
    chosen: (Entity, Option<Strength>),
) -> Option<Difference> {
    let side = |entity: Entity| (inputs[entity.input].module, entity.symbol);
    let (first, second) =
        if declared.0.input < chosen.0.input { (declared.0, chosen.0) } else { (chosen.0, declared.0) };
    match difference(side(first), side(second))? {
        // A common variable is as large as the largest.
        Difference::Size(..) if declared.1 == Some(Strength::Common) && !is_larger(inputs, declared.0, chosen.0) => {
            None
        }
        difference => Some(difference),
    }
}
