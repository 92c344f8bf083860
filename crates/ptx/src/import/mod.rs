//! Taking the functions and variables of one module into another: how tools bring the functions that they call.
//!
//! A tool writes its helpers as PTX, parses them once, and imports them into every module that it changes. Each helper
//! then has an id there ([`Imported`]), to be called by what the tool inserts.
//!
//! ```
//! use ptx::edit::Editor;
//!
//! let helpers = ptx::parse(
//!     ".version 8.0\n.target sm_80\n.address_size 64\n\
//!      .global .u64 barriers;\n\
//!      .func count() { .reg .b64 %a<2>; atom.global.add.u64 %a1, [barriers], 1; ret; }",
//! )
//! .module;
//! let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { bar.sync 0; ret; }";
//! let mut module = ptx::parse(text).module;
//! let tag = module.tag_named("count", "barrier", 0);
//! let imported = module.import(&helpers, tag)?;
//! let count = imported.function(helpers.function("count").unwrap());
//! let kernel = module.function("k").unwrap();
//! let mut editor = Editor::new(&mut module, kernel)?;
//! let first = editor.body().insts().next().unwrap().0;
//! editor.before(first, tag).inst("call.uni", &[ptx::ir::Operand::Symbol(ptx::ir::Symbol::Func(count), 0)]);
//! assert!(ptx::verify(&module).is_empty());
//! assert!(ptx::parse(&ptx::print(&module)).diagnostics.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Modules of a program that were compiled apart are put together by [`link`](crate::link) instead.

mod agree;
mod translate;

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

pub use agree::Difference;
pub(crate) use agree::difference;
pub(crate) use translate::{Origins, Translation, rename_labels, unreadable_use};

use crate::entity::{Id, Map};
use crate::ir::{FuncId, Function, Global, Item, Module, OriginId, Stmt, StmtId, Symbol, TagId, Variable};
use crate::name::Name;
use crate::types::{Linkage, Space};

/// What the functions and variables of an imported module are in the module that they were imported into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imported {
    functions: Map<FuncId, FuncId>,
    globals: Map<Global, Global>,
}

impl Imported {
    /// What a function of the imported module is now.
    pub fn function(&self, func: FuncId) -> FuncId {
        self.functions[func]
    }

    /// What a variable of the imported module is now.
    pub fn global(&self, global: Global) -> Global {
        self.globals[global]
    }
}

/// Why a module cannot be imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ImportError {
    /// A declaration of the imported module and what has its name here do not agree.
    Disagreement {
        /// The name.
        symbol: String,
        /// In what they differ: here, and in the imported module.
        difference: Difference,
    },
    /// Something gets another name, and a statement that names it was kept as text.
    Unreadable {
        /// The name.
        symbol: String,
        /// The statement.
        text: String,
    },
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disagreement { symbol, difference } => {
                write!(f, "`{symbol}` and the symbol of that name in the imported module do not agree: {difference}")
            }
            Self::Unreadable { symbol, text } => {
                write!(f, "`{symbol}` must get another name, but `{text}` names it and is not understood")
            }
        }
    }
}

impl std::error::Error for ImportError {}

impl Module {
    /// Takes in the functions and variables of another module, under their names if nothing here has these, or else
    /// under names like them.
    ///
    /// - What the other module declares `.extern` is what has the name here; if nothing has, the declaration comes over.
    /// - A `.weak` definition whose name is that of a definition here is not imported: it is the one that is here. So
    ///   the same helpers can be imported again.
    /// - All instructions are there for no instruction of the user, with this tag. The `.loc` lines of the other module
    ///   stay after: reports are about the user's files.
    ///
    /// Variables and declarations of the functions come before all functions with bodies, so that all of these can use
    /// them, the bodies at the end, so that they can use all that is here.
    pub fn import(&mut self, other: &Self, tag: TagId) -> Result<Imported, ImportError> {
        let fates = Fates::decide(self, other)?;
        let names = fates.names(self);
        let is_renamed = |name: Name| names.get(&name).is_some_and(|new| new != other.text(name));
        if let Some((name, text)) = unreadable_use(other, &is_renamed) {
            return Err(ImportError::Unreadable { symbol: other.text(name).to_owned(), text: text.to_owned() });
        }
        self.align_shared_memory(&fates);
        let no_origin = OriginId::new(self.origins as usize);
        let mut translation = Translation::new(other, self, Origins::Inserted(no_origin, tag));
        for (&name, new) in &names {
            translation.renamed.insert(name, self.names.intern(new));
        }
        let imported = fates.ids(self);
        translation.functions = imported.functions.values().copied().map(Some).collect();
        translation.globals = imported.globals.values().copied().map(Some).collect();
        let mut taken: FxHashSet<Name> = self.symbols_by_name().into_keys().collect();
        taken.extend(translation.renamed.values());

        let (mut variables, mut bodies, mut declarations) = (Vec::new(), Vec::new(), Vec::new());
        for global in other.globals.ids().filter(|&global| fates.comes_over(Symbol::Global(global))) {
            let variable = translation.global(self, global);
            variables.push(Item::Variable(self.globals.push(variable)));
        }
        for func in other.functions.ids().filter(|&func| fates.comes_over(Symbol::Func(func))) {
            let mut function = translation.function(self, func);
            rename_labels(&mut function, &taken, |name| self.fresh_label(other, name));
            if let Some(body) = &mut function.body {
                let is_location = |id: &StmtId| matches!(body.stmt(*id), Stmt::Loc(_));
                body.ids()
                    .into_iter()
                    .filter(is_location)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|id| body.remove(id));
            }
            let func = self.functions.push(function);
            (if self.is_defined(Symbol::Func(func)) { &mut bodies } else { &mut declarations }).push(func);
        }
        for &func in &bodies {
            let declaration = self.functions[func].declaration();
            declarations.push(self.functions.push(declaration));
        }
        let has_body = |item: &Item| matches!(item, Item::Function(func) if self.functions[*func].body.is_some());
        let first = self.items.iter().position(has_body).unwrap_or(self.items.len());
        self.items.splice(first..first, declarations.into_iter().map(Item::Function).chain(variables));
        // Sections of debugging information are the end of a text.
        let is_end = |item: &Item| matches!(item, Item::Section(..) | Item::File(_));
        let last = self.items.iter().rposition(|item| !is_end(item)).map_or(0, |last| last + 1);
        self.items.splice(last..last, bodies.into_iter().map(Item::Function));
        Ok(imported)
    }

    /// The memory whose size is given at launch is as aligned as all who use it want it.
    fn align_shared_memory(&mut self, fates: &Fates<'_>) {
        for variable in fates.other.globals.values().filter(|variable| variable.space == Space::Shared) {
            if let Some(&Symbol::Global(here)) = fates.here.get(&variable.name)
                && self.globals[here].alignment() < variable.alignment()
            {
                self.globals[here].align = Some(variable.alignment());
            }
        }
    }

    fn fresh_label(&mut self, other: &Self, name: Name) -> Name {
        let base = self.text(name).to_owned();
        let mut fresh = self.fresh_name(&format!("{base}_label"));
        while other.names.find(self.text(fresh)).is_some() {
            fresh = self.fresh_name(&format!("{base}_label"));
        }
        fresh
    }

    /// Functions and variables by their names: definitions where there are any.
    fn symbols_by_name(&self) -> FxHashMap<Name, Symbol> {
        let mut symbols = FxHashMap::default();
        for (func, function) in self.functions.iter() {
            let known = symbols.entry(function.name).or_insert(Symbol::Func(func));
            if function.body.is_some() {
                *known = Symbol::Func(func);
            }
        }
        for (global, variable) in self.globals.iter() {
            let known = symbols.entry(variable.name).or_insert(Symbol::Global(global));
            if variable.linkage != Some(Linkage::Extern) {
                *known = Symbol::Global(global);
            }
        }
        symbols
    }

    pub(crate) fn name_of(&self, symbol: Symbol) -> Name {
        match symbol {
            Symbol::Func(func) => self.functions[func].name,
            Symbol::Global(global) => self.globals[global].name,
            Symbol::Undeclared(name) => name,
            Symbol::Var(_) | Symbol::Label(_) => unreachable!("only functions know the names of what is in them"),
        }
    }

    pub(crate) fn linkage(&self, symbol: Symbol) -> Option<Linkage> {
        match symbol {
            Symbol::Func(func) => self.functions[func].linkage,
            Symbol::Global(global) => self.globals[global].linkage,
            Symbol::Var(_) | Symbol::Label(_) | Symbol::Undeclared(_) => None,
        }
    }

    fn is_defined(&self, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Func(func) => self.functions[func].body.is_some(),
            Symbol::Global(global) => self.globals[global].linkage != Some(Linkage::Extern),
            Symbol::Var(_) | Symbol::Label(_) | Symbol::Undeclared(_) => false,
        }
    }
}

/// What becomes of the functions and variables of another module.
struct Fates<'a> {
    other: &'a Module,
    /// What a name stands for there: one of its declarations, the definition if there is one.
    symbols: FxHashMap<Name, Symbol>,
    /// What a name of the other module stands for here. What is not listed comes over.
    here: FxHashMap<Name, Symbol>,
}

impl<'a> Fates<'a> {
    fn decide(into: &Module, other: &'a Module) -> Result<Self, ImportError> {
        let own = into.symbols_by_name();
        let symbols = other.symbols_by_name();
        let all = other.functions.ids().map(Symbol::Func).chain(other.globals.ids().map(Symbol::Global));
        for symbol in all {
            let same_name = symbols[&other.name_of(symbol)];
            if matches!(symbol, Symbol::Func(_)) != matches!(same_name, Symbol::Func(_)) {
                let difference = difference((other, symbol), (other, same_name)).expect("their kinds differ");
                return Err(ImportError::Disagreement {
                    symbol: other.text(other.name_of(symbol)).to_owned(),
                    difference,
                });
            }
        }
        let mut here = FxHashMap::default();
        for (&name, &symbol) in &symbols {
            let same_name = into.names.find(other.text(name)).and_then(|name| own.get(&name)).copied();
            let is_weak = other.linkage(symbol) == Some(Linkage::Weak);
            let is_same = |found: Symbol| !other.is_defined(symbol) || is_weak && into.is_defined(found);
            let Some(found) = same_name.filter(|&found| is_same(found)) else { continue };
            if let Some(difference) = difference((into, found), (other, symbol)) {
                return Err(ImportError::Disagreement { symbol: other.text(name).to_owned(), difference });
            }
            here.insert(name, found);
        }
        Ok(Self { other, symbols, here })
    }

    fn comes_over(&self, symbol: Symbol) -> bool {
        let name = self.other.name_of(symbol);
        self.symbols[&name] == symbol && !self.here.contains_key(&name)
    }

    /// The names here of the definitions that come over.
    fn names(&self, into: &Module) -> FxHashMap<Name, String> {
        let mut names = FxHashMap::default();
        let mut given = FxHashSet::default();
        for (&name, &symbol) in &self.symbols {
            if !self.comes_over(symbol) || !self.other.is_defined(symbol) {
                continue;
            }
            let base = self.other.text(name);
            let is_free = |text: &String| into.is_unused(text) && (text == base || self.other.is_unused(text));
            let numbered = (1..).map(|number| format!("{base}_{number}"));
            let mut candidates = std::iter::once(base.to_owned()).chain(numbered);
            let free = candidates.find(|text| is_free(text) && !given.contains(text)).expect("numbers do not end");
            given.insert(free.clone());
            names.insert(name, free);
        }
        names
    }

    /// The ids of everything, once what comes over is pushed in the order of the other module.
    fn ids(&self, into: &Module) -> Imported {
        let mut ids: FxHashMap<Name, Symbol> = self.here.clone();
        let functions = self.other.functions.ids().map(Symbol::Func).filter(|&symbol| self.comes_over(symbol));
        for (index, symbol) in functions.enumerate() {
            ids.insert(self.other.name_of(symbol), Symbol::Func(FuncId::new(into.functions.len() + index)));
        }
        let globals = self.other.globals.ids().map(Symbol::Global).filter(|&symbol| self.comes_over(symbol));
        for (index, symbol) in globals.enumerate() {
            ids.insert(self.other.name_of(symbol), Symbol::Global(Global::new(into.globals.len() + index)));
        }
        let function = |function: &Function| match ids[&function.name] {
            Symbol::Func(func) => func,
            other => unreachable!("{other:?} has the name of a function, which the check of kinds refuses"),
        };
        let global = |variable: &Variable| match ids[&variable.name] {
            Symbol::Global(global) => global,
            other => unreachable!("{other:?} has the name of a variable, which the check of kinds refuses"),
        };
        Imported {
            functions: self.other.functions.values().map(function).collect(),
            globals: self.other.globals.values().map(global).collect(),
        }
    }
}
