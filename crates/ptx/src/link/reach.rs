//! What is named, and what kernels and initial values lead to.

use rustc_hash::FxHashSet;

use super::symbols::{Entity, Symbols};
use super::{Input, LinkError};
use crate::ir::{FuncId, Function, InitValue, Module, Symbol, Variable};
use crate::types::Space;

/// What a linked module has.
pub(super) struct Reached {
    /// Everything that is defined or named.
    pub(super) kept: FxHashSet<Entity>,
    /// Functions that initial values of variables of the module name.
    pub(super) in_initial_values: FxHashSet<Entity>,
}

/// Walks over everything that is defined, first over what kernels and variables lead to. Variables count because the
/// host may take what is in them, such as the address of a function.
pub(super) fn find(
    inputs: &[Input<'_>],
    symbols: &Symbols<'_>,
    provided: &impl Fn(&str) -> bool,
) -> Result<Reached, Vec<LinkError>> {
    let mut walk = Walk { inputs, symbols, kept: FxHashSet::default(), pending: Vec::new(), undefined: Vec::new() };
    let is_root = |entity: &Entity| match entity.symbol {
        Symbol::Func(func) => inputs[entity.input].module.functions[func].is_entry(),
        _ => true,
    };
    let defined = || definitions(inputs, symbols);
    for root in defined().filter(is_root) {
        walk.from(root);
    }
    let is_missing = |&(_, entity): &(Entity, Entity)| {
        let module = inputs[entity.input].module;
        match entity.symbol {
            // Its size is given at launch.
            Symbol::Global(global) if module.globals[global].space == Space::Shared => false,
            Symbol::Global(_) => true,
            symbol => !provided(module.text(module.name_of(symbol))),
        }
    };
    let text = |entity: Entity| {
        let module = inputs[entity.input].module;
        module.text(module.name_of(entity.symbol)).to_owned()
    };
    let errors: Vec<LinkError> = std::mem::take(&mut walk.undefined)
        .into_iter()
        .filter(is_missing)
        .map(|(user, entity)| LinkError::Undefined {
            symbol: text(entity),
            user: text(user),
            input: inputs[user.input].name.to_owned(),
        })
        .collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    for other in defined() {
        walk.from(other);
    }
    let mut in_initial_values = FxHashSet::default();
    for entity in defined() {
        if let Symbol::Global(global) = entity.symbol {
            let variable = &inputs[entity.input].module.globals[global];
            let named = initial_symbols(variable).filter_map(|symbol| symbols.meaning(entity.input, symbol));
            in_initial_values.extend(named.filter(|entity| matches!(entity.symbol, Symbol::Func(_))));
        }
    }
    Ok(Reached { kept: walk.kept, in_initial_values })
}

/// Everything that is defined and taken, in the order of the inputs.
fn definitions<'a>(inputs: &'a [Input<'a>], symbols: &'a Symbols<'a>) -> impl Iterator<Item = Entity> + 'a {
    let of_input = move |input: usize| {
        let entities = symbols.declared[input].iter().filter(|declared| declared.is_defined);
        let entities = entities.map(move |declared| Entity { input, symbol: declared.symbol });
        entities.filter(move |&entity| symbols.meaning(input, entity.symbol) == Some(entity))
    };
    (0..inputs.len()).flat_map(of_input)
}

struct Walk<'a> {
    inputs: &'a [Input<'a>],
    symbols: &'a Symbols<'a>,
    kept: FxHashSet<Entity>,
    pending: Vec<Entity>,
    /// What is named and not defined, after who named it first.
    undefined: Vec<(Entity, Entity)>,
}

impl Walk<'_> {
    fn from(&mut self, root: Entity) {
        if self.kept.insert(root) {
            self.pending.push(root);
        }
        while let Some(user) = self.pending.pop() {
            let module = self.inputs[user.input].module;
            match user.symbol {
                Symbol::Func(func) => {
                    if let Some(target) = self.symbols.alias_target(self.inputs, user) {
                        self.meet(user, target);
                    }
                    self.walk_function(user, module, func);
                }
                Symbol::Global(global) => {
                    for symbol in initial_symbols(&module.globals[global]) {
                        self.name(user, symbol);
                    }
                }
                Symbol::Var(_) | Symbol::Label(_) | Symbol::Undeclared(_) => {}
            }
        }
    }

    fn walk_function(&mut self, user: Entity, module: &Module, func: FuncId) {
        let Function { vars, body, .. } = &module.functions[func];
        for symbol in vars.values().flat_map(initial_symbols) {
            self.name(user, symbol);
        }
        if let Some(body) = body {
            body.for_each_symbol(|symbol| self.name(user, symbol));
        }
    }

    fn name(&mut self, user: Entity, symbol: Symbol) {
        if let Some(entity) = self.symbols.meaning(user.input, symbol) {
            self.meet(user, entity);
        }
    }

    fn meet(&mut self, user: Entity, entity: Entity) {
        if self.kept.insert(entity) {
            if self.symbols.is_defined(self.inputs, entity) {
                self.pending.push(entity);
            } else {
                self.undefined.push((user, entity));
            }
        }
    }
}

/// The symbols that an initial value names.
pub(super) fn initial_symbols(variable: &Variable) -> impl Iterator<Item = Symbol> {
    variable.init.iter().flat_map(|init| &init.values).filter_map(|value| match value {
        InitValue::Address { symbol, .. } => Some(*symbol),
        _ => None,
    })
}
