//! Putting the linked module together.

use rustc_hash::{FxHashMap, FxHashSet};

use super::header::Header;
use super::names::NewNames;
use super::reach::Reached;
use super::sections::Sections;
use super::symbols::{Entity, Symbols};
use super::{Input, InputOrigins, Linked};
use crate::entity::Id;
use crate::import::{Origins, Translation, rename_labels};
use crate::ir::{AliasDirective, FuncId, Global, Item, Module, Symbol, UnknownDirective};
use crate::name::Name;
use crate::types::Linkage;

/// Makes the module, once all that could be wrong was found to be right.
pub(super) fn assemble(
    inputs: &[Input<'_>],
    header: Header,
    symbols: &Symbols<'_>,
    reached: &Reached,
    names: &NewNames,
    variables: &[Entity],
) -> Linked {
    let mut module = Module::new();
    module.version = header.version;
    module.address_size = header.address_size;
    module.target = header.target.iter().map(|word| module.names.intern(word)).collect();
    let mut origins = InputOrigins::default();
    let mut sections = Sections::default();
    let mut translations = Vec::new();
    let ids = Ids::of(inputs, reached, symbols, variables);
    for (index, input) in inputs.iter().enumerate() {
        let first_origin = module.origins;
        origins.ids.push(first_origin);
        let mut translation = Translation::new(input.module, &mut module, Origins::From(first_origin));
        // One more than there are instructions: the number for what is there for none of them.
        module.origins += input.module.origins + 1;
        let offset = module.lines.append(&input.module.lines);
        origins.positions.push(offset);
        translation.position_offset = Some(offset);
        translation.renamed =
            names.symbols[index].iter().map(|(&name, new)| (name, module.names.intern(new))).collect();
        let functions = input.module.functions.ids().map(|func| symbols.meaning(index, Symbol::Func(func)));
        translation.functions = functions.map(|entity| ids.functions.get(&entity?).copied()).collect();
        let globals = input.module.globals.ids().map(|global| symbols.meaning(index, Symbol::Global(global)));
        translation.globals = globals.map(|entity| ids.globals.get(&entity?).copied()).collect();
        sections.add_files(&mut module, input, &mut translation, inputs.len() == 1);
        sections.choose_labels(&mut module, (index, input), &mut translation, names);
        translations.push(translation);
    }
    for &entity in variables {
        let Symbol::Global(global) = entity.symbol else { unreachable!("{entity:?} is among the variables") };
        let mut variable = translations[entity.input].global(&mut module, global);
        if let Some(&align) = symbols.alignments.get(&entity) {
            variable.align = Some(align);
        }
        module.globals.push(variable);
    }
    for &entity in &ids.order {
        let Symbol::Func(func) = entity.symbol else { unreachable!("{entity:?} is among the functions") };
        let mut function = translations[entity.input].function(&mut module, func);
        if !symbols.is_defined(inputs, entity) {
            function.linkage = Some(Linkage::Extern);
        } else if function.linkage.is_none() && !function.is_entry() && is_shared(inputs, symbols, entity) {
            function.linkage = Some(Linkage::Visible);
        }
        module.functions.push(function);
    }
    let items = Items { inputs, symbols, reached, ids: &ids };
    items.declarations(&mut module);
    module.items.extend(module.globals.ids().map(Item::Variable).collect::<Vec<_>>());
    items.bodies(&mut module, &mut translations);
    let taken: FxHashSet<Name> = module.functions.values().map(|function| function.name).collect();
    let taken: FxHashSet<Name> =
        taken.into_iter().chain(module.globals.values().map(|variable| variable.name)).collect();
    for (&entity, &func) in &ids.functions {
        let Module { functions, names: all_names, .. } = &mut module;
        rename_labels(&mut functions[func], &taken, |name| {
            let new = names.label(all_names.text(name), entity.input);
            all_names.intern(&new)
        });
    }
    for (input, translation) in inputs.iter().zip(&mut translations) {
        sections.add_sections(&mut module, input, translation, inputs.len() == 1);
    }
    let sections = sections.items(&mut module);
    module.items.extend(sections);
    Linked { module, origins }
}

fn is_shared(inputs: &[Input<'_>], symbols: &Symbols<'_>, entity: Entity) -> bool {
    let module = inputs[entity.input].module;
    symbols.shared.get(module.text(module.name_of(entity.symbol))) == Some(&entity)
}

/// The ids that functions and variables get.
struct Ids {
    functions: FxHashMap<Entity, FuncId>,
    globals: FxHashMap<Entity, Global>,
    /// The functions that are kept, in the order of their ids.
    order: Vec<Entity>,
}

impl Ids {
    fn of(inputs: &[Input<'_>], reached: &Reached, symbols: &Symbols<'_>, variables: &[Entity]) -> Self {
        let globals = variables.iter().enumerate().map(|(index, &entity)| (entity, Global::new(index))).collect();
        let mut order = Vec::new();
        for (input, Input { module, .. }) in inputs.iter().enumerate() {
            let entities = module.functions.ids().map(|func| Entity { input, symbol: Symbol::Func(func) });
            let is_kept = |entity: &Entity| {
                symbols.meaning(input, entity.symbol) == Some(*entity) && reached.kept.contains(entity)
            };
            order.extend(entities.filter(is_kept));
        }
        let functions = order.iter().enumerate().map(|(index, &entity)| (entity, FuncId::new(index))).collect();
        Self { functions, globals, order }
    }
}

/// The items of the linked module.
struct Items<'a> {
    inputs: &'a [Input<'a>],
    symbols: &'a Symbols<'a>,
    reached: &'a Reached,
    ids: &'a Ids,
}

impl Items<'_> {
    /// All functions that an input declares, of which it has a definition that another one replaces, or whose address is
    /// in a variable: once each.
    fn declarations(&self, module: &mut Module) {
        let mut done: FxHashSet<FuncId> = FxHashSet::default();
        let mut declare = |module: &mut Module, func: FuncId| {
            if !done.insert(func) {
                return;
            }
            let item = match module.functions[func].body {
                Some(_) => module.functions.push(module.functions[func].declaration()),
                None => func,
            };
            module.items.push(Item::Function(item));
        };
        for (input, func) in self.function_items() {
            let own = Entity { input, symbol: Symbol::Func(func) };
            let Some(entity) = self.symbols.meaning(input, own.symbol) else { continue };
            let has_body = self.inputs[input].module.functions[func].body.is_some();
            if let Some(&id) = self.ids.functions.get(&entity)
                && (!has_body || entity != own && entity.input > input)
            {
                declare(module, id);
            }
        }
        let named = self.ids.order.iter().filter(|entity| self.reached.in_initial_values.contains(entity));
        for entity in named {
            declare(module, self.ids.functions[entity]);
        }
    }

    fn function_items(&self) -> impl Iterator<Item = (usize, FuncId)> {
        let of_input = |(index, input): (usize, &Input<'_>)| {
            let functions = input.module.items.iter().filter_map(|item| match item {
                Item::Function(func) => Some(*func),
                _ => None,
            });
            functions.map(|func| (index, func)).collect::<Vec<_>>()
        };
        self.inputs.iter().enumerate().flat_map(of_input)
    }

    /// Functions with bodies, directives, and aliases, whose targets have to be defined before them, at the end.
    fn bodies(&self, module: &mut Module, translations: &mut [Translation<'_>]) {
        let mut aliases = Vec::new();
        let mut pragmas = FxHashSet::default();
        for (index, input) in self.inputs.iter().enumerate() {
            for item in &input.module.items {
                match item {
                    Item::Function(func) => {
                        let entity = Entity { input: index, symbol: Symbol::Func(*func) };
                        if let Some(&id) = self.ids.functions.get(&entity)
                            && module.functions[id].body.is_some()
                        {
                            module.items.push(Item::Function(id));
                        }
                    }
                    Item::Alias(alias) => {
                        let own = self.symbols.meaning(index, Symbol::Func(alias.alias));
                        let target = self.symbols.meaning(index, Symbol::Func(alias.target));
                        let is_taken = own.is_some_and(|own| own.input == index);
                        let ids = |entity: Option<Entity>| self.ids.functions.get(&entity?).copied();
                        if let (true, Some(alias), Some(target)) = (is_taken, ids(own), ids(target)) {
                            aliases.push(Item::Alias(AliasDirective { alias, target }));
                        }
                    }
                    Item::Directive(directive) => {
                        let mut directive = directive.clone();
                        translations[index].directive(module, &mut directive);
                        if pragmas.insert((directive.name, format!("{:?}", directive.args))) {
                            module.items.push(Item::Directive(directive));
                        }
                    }
                    Item::Unknown(unknown) => {
                        let text = translations[index].name(module, unknown.text);
                        let at = translations[index].position(unknown.at);
                        module.items.push(Item::Unknown(UnknownDirective { text, at }));
                    }
                    Item::Variable(_) | Item::File(_) | Item::Section(..) => {}
                }
            }
        }
        module.items.extend(aliases);
    }
}
