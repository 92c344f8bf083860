//! What the names, forms, functions and variables of one module are in another.

use crate::diagnostic::Position;
use crate::entity::{Id, Map};
use crate::form::FormId;
use crate::ir::{
    Body, CallPrototype, Directive, DirectiveArg, FuncId, Function, Global, InitValue, InsertedBy, Label, List, Module,
    Operand, Origin, OriginId, Section, SectionData, SectionItem, SourceLocation, Stmt, Symbol, TagId, Variable,
};
use crate::name::Name;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// From one module to another. Whoever makes it says what becomes of functions and variables; names, forms and tags
/// follow by themselves.
pub(crate) struct Translation<'a> {
    from: &'a Module,
    names: Map<Name, Option<Name>>,
    forms: Map<FormId, FormId>,
    tags: Map<TagId, TagId>,
    /// What functions become; one that does not come over is only a name.
    pub(crate) functions: Map<FuncId, Option<FuncId>>,
    /// What variables become.
    pub(crate) globals: Map<Global, Option<Global>>,
    /// The names of symbols that get another one.
    pub(crate) renamed: FxHashMap<Name, Name>,
    /// Other numbers of files.
    pub(crate) files: FxHashMap<u32, u32>,
    /// Other names of the labels in sections.
    pub(crate) section_labels: FxHashMap<Name, Name>,
    /// What origins become.
    pub(crate) origins: Origins,
    /// By how much places in the text move; nothing if the text is not kept.
    pub(crate) position_offset: Option<u32>,
}

/// What becomes of origins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origins {
    /// Numbers begin here.
    From(u32),
    /// All is there for no instruction of the user, by a tool.
    Inserted(OriginId, TagId),
}

impl<'a> Translation<'a> {
    pub(crate) fn new(from: &'a Module, into: &mut Module, origins: Origins) -> Self {
        let forms = from.forms.iter().map(|(_, form)| into.forms.intern(form.spelling())).collect();
        let mut translation = Self {
            from,
            names: Map::filled(from.names.len(), None),
            forms,
            tags: Map::new(),
            functions: Map::filled(from.functions.len(), None),
            globals: Map::filled(from.globals.len(), None),
            renamed: FxHashMap::default(),
            files: FxHashMap::default(),
            section_labels: FxHashMap::default(),
            origins,
            position_offset: None,
        };
        for tag in from.tags.values() {
            let (tool, role) = (translation.name(into, tag.tool), translation.name(into, tag.role));
            translation.tags.push(into.tag(InsertedBy { tool, role, copy: tag.copy }));
        }
        translation
    }

    /// The same text.
    pub(crate) fn name(&mut self, into: &mut Module, name: Name) -> Name {
        *self.names[name].get_or_insert_with(|| into.names.intern(self.from.text(name)))
    }

    fn symbol_name(&mut self, into: &mut Module, name: Name) -> Name {
        match self.renamed.get(&name) {
            Some(&renamed) => renamed,
            None => self.name(into, name),
        }
    }

    /// A function with all in it, not yet among the functions of the module.
    pub(crate) fn function(&mut self, into: &mut Module, func: FuncId) -> Function {
        let mut function = self.from.functions[func].clone();
        function.name = self.symbol_name(into, function.name);
        for attribute in &mut function.attributes {
            *attribute = self.name(into, *attribute);
        }
        for directive in &mut function.directives {
            self.directive(into, directive);
        }
        for variable in function.vars.values_mut() {
            let name = self.name(into, variable.name);
            self.variable_but_name(into, variable);
            variable.name = name;
        }
        for group in function.groups.values_mut() {
            group.name = self.name(into, group.name);
            group.at = self.position(group.at);
        }
        for label in function.labels.values_mut() {
            label.name = self.name(into, label.name);
            label.at = self.position(label.at);
        }
        let from = self.from;
        function.body = from.functions[func].body.as_ref().map(|body| self.body(into, body));
        function.at = self.position(function.at);
        function
    }

    /// A variable of the module, not yet among the variables of the other.
    pub(crate) fn global(&mut self, into: &mut Module, global: Global) -> Variable {
        let mut variable = self.from.globals[global].clone();
        variable.name = self.symbol_name(into, variable.name);
        self.variable_but_name(into, &mut variable);
        variable
    }

    fn variable_but_name(&mut self, into: &mut Module, variable: &mut Variable) {
        for attribute in &mut variable.attributes {
            *attribute = self.name(into, *attribute);
        }
        for value in variable.init.iter_mut().flat_map(|init| &mut init.values) {
            match value {
                InitValue::Address { symbol, .. } => *symbol = self.symbol(into, *symbol),
                InitValue::Field(name, value) => {
                    *name = self.name(into, *name);
                    *value = self.name(into, *value);
                }
                InitValue::Open | InitValue::Close | InitValue::Int(_) | InitValue::F32(_) | InitValue::F64(_) => {}
            }
        }
        variable.at = self.position(variable.at);
    }

    pub(crate) fn directive(&mut self, into: &mut Module, directive: &mut Directive) {
        directive.name = self.name(into, directive.name);
        for arg in &mut directive.args {
            match arg {
                DirectiveArg::Int(_) => {}
                DirectiveArg::Text(name) | DirectiveArg::Word(name) => *name = self.name(into, *name),
            }
        }
        directive.at = self.position(directive.at);
    }

    /// A copy of the statements. What was removed stays after.
    fn body(&mut self, into: &mut Module, from: &Body) -> Body {
        let mut body = Body::new();
        for id in from.iter() {
            let mut stmt = from.stmt(id).clone();
            match &mut stmt {
                Stmt::Inst(inst) => {
                    inst.form = self.forms[inst.form];
                    inst.operands = self.list(into, from, &mut body, inst.operands);
                }
                Stmt::BranchTargets(_, list) | Stmt::CallTargets(_, list) => {
                    *list = self.list(into, from, &mut body, *list);
                }
                Stmt::Unknown(text) => *text = self.name(into, *text),
                Stmt::Loc(location) => self.location(into, location),
                Stmt::Directive(directive) => self.directive(into, directive),
                Stmt::CallPrototype(_, prototype) => self.prototype(into, prototype),
                Stmt::Label(_) | Stmt::Open | Stmt::Close | Stmt::Regs(_) | Stmt::Var(_) => {}
            }
            body.push(stmt, self.position(from.position(id)), self.origin(from.origin(id)));
        }
        body
    }

    fn list(&mut self, into: &mut Module, from: &Body, body: &mut Body, list: List) -> List {
        let mut operands: SmallVec<[Operand; 8]> = from.operands(list).into();
        for operand in &mut operands {
            match operand {
                Operand::Symbol(symbol, _) | Operand::SymbolAddress(symbol, _) | Operand::Element(symbol, _) => {
                    *symbol = self.symbol(into, *symbol);
                }
                Operand::Part(_, name) => *name = self.name(into, *name),
                Operand::Vector(inner)
                | Operand::TupleAddress(inner)
                | Operand::Arguments(inner)
                | Operand::VectorPair(inner, _) => *inner = self.list(into, from, body, *inner),
                _ => {}
            }
        }
        body.list(&operands)
    }

    fn prototype(&mut self, into: &mut Module, prototype: &mut CallPrototype) {
        prototype.name = self.name(into, prototype.name);
        for variable in prototype.returns.iter_mut().chain(&mut prototype.params) {
            variable.name = self.name(into, variable.name);
            self.variable_but_name(into, variable);
        }
        for directive in &mut prototype.directives {
            self.directive(into, directive);
        }
    }

    fn location(&mut self, into: &mut Module, location: &mut SourceLocation) {
        location.file = self.file(location.file);
        if let Some(inlined) = &mut location.inlined {
            inlined.file = self.file(inlined.file);
            inlined.function_name = self.section_label(into, inlined.function_name);
        }
    }

    /// A section, with the names that its labels have in the other module.
    pub(crate) fn section(&mut self, into: &mut Module, section: &Section) -> Section {
        let mut section = section.clone();
        for item in &mut section.items {
            if let SectionItem::Label(label) = item {
                *label = self.section_label(into, *label);
            }
        }
        for data in &mut section.data {
            match data {
                SectionData::Int(_) => {}
                SectionData::Name(name, _) => *name = self.section_label(into, *name),
                SectionData::Difference(first, second) => {
                    *first = self.section_label(into, *first);
                    *second = self.section_label(into, *second);
                }
            }
        }
        section
    }

    fn section_label(&mut self, into: &mut Module, name: Name) -> Name {
        match self.section_labels.get(&name) {
            Some(&label) => label,
            None => self.symbol_name(into, name),
        }
    }

    fn file(&self, number: u32) -> u32 {
        self.files.get(&number).copied().unwrap_or(number)
    }

    fn symbol(&mut self, into: &mut Module, symbol: Symbol) -> Symbol {
        let name = match symbol {
            Symbol::Func(func) => match self.functions[func] {
                Some(func) => return Symbol::Func(func),
                None => self.from.functions[func].name,
            },
            Symbol::Global(global) => match self.globals[global] {
                Some(global) => return Symbol::Global(global),
                None => self.from.globals[global].name,
            },
            Symbol::Undeclared(name) => name,
            Symbol::Var(_) | Symbol::Label(_) => return symbol,
        };
        Symbol::Undeclared(self.name(into, name))
    }

    pub(crate) fn position(&self, at: Position) -> Position {
        match self.position_offset {
            Some(offset) if at != Position::NONE => Position(at.0.saturating_add(offset)),
            _ => Position::NONE,
        }
    }

    fn origin(&self, origin: Origin) -> Origin {
        match self.origins {
            Origins::From(first) => Origin {
                id: OriginId::new(first as usize + origin.id.index()),
                tag: origin.tag.map(|tag| self.tags[tag]),
            },
            Origins::Inserted(id, tag) => Origin::original(id).tagged(tag),
        }
    }
}

/// Gives other names to the labels of a function that are called like something of the module: branches would go to that.
pub(crate) fn rename_labels(
    function: &mut Function,
    taken: &FxHashSet<Name>,
    mut other_name: impl FnMut(Name) -> Name,
) {
    let is_taken = |label: &Label| taken.contains(&function.labels[*label].name);
    for label in function.labels.ids().filter(is_taken).collect::<Vec<_>>() {
        let label = &mut function.labels[label];
        label.name = other_name(label.name);
    }
}

/// A statement or directive of a module that the parser kept as text and that names one of the symbols.
pub(crate) fn unreadable_use<'a>(module: &'a Module, names: &impl Fn(Name) -> bool) -> Option<(Name, &'a str)> {
    let in_text = |text: &'a str| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '%');
        let mut words = text.split(|c| !is_part(c)).filter_map(|word| module.names.find(word));
        words.find(|&word| names(word)).map(|name| (name, text))
    };
    let in_directive = |directive: &'a Directive| {
        directive.args.iter().find_map(|arg| match *arg {
            DirectiveArg::Word(word) if names(word) => Some((word, module.text(word))),
            _ => None,
        })
    };
    let in_function = |function: &'a Function| {
        let body = function.body.as_ref()?;
        body.iter().find_map(|id| match body.stmt(id) {
            Stmt::Unknown(text) => in_text(module.text(*text)),
            Stmt::Directive(directive) => in_directive(directive),
            _ => None,
        })
    };
    let in_item = |item: &'a crate::ir::Item| match item {
        crate::ir::Item::Unknown(unknown) => in_text(module.text(unknown.text)),
        crate::ir::Item::Directive(directive) => in_directive(directive),
        _ => None,
    };
    module.items.iter().find_map(in_item).or_else(|| module.functions.values().find_map(in_function))
}
