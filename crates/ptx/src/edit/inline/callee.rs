//! What can be inlined, and making it ready for that.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::edit::copy::replace_symbols;
use crate::edit::editor::Editor;
use crate::edit::error::EditError;
use crate::ir::{FuncId, Function, Global, InitValue, Item, Module, Operand, Param, Stmt, StmtId, Symbol, Var};
use crate::name::Name;
use crate::ops::Effect;
use crate::types::Space;
use crate::view::{Callee, View};

impl Editor<'_> {
    /// The function with a body that the call calls, if it can be inlined.
    pub(super) fn inlinable_callee(&self, call: StmtId) -> Result<FuncId, EditError> {
        let view = self.view(call).expect("only instructions are inlined");
        let module = &*self.module;
        let called = match view.callee().expect("only calls are inlined") {
            Callee::Direct(func) => func,
            Callee::Indirect(_) => return Err(EditError::IndirectCall),
            Callee::Unknown => {
                let function = match view.operands().iter().find(|operand| matches!(operand, Operand::Symbol(..))) {
                    Some(Operand::Symbol(Symbol::Undeclared(name), _)) => module.text(*name).to_owned(),
                    _ => return Err(EditError::IndirectCall),
                };
                return Err(EditError::UnknownCallee { function });
            }
        };
        let function = module.text(module.functions[called].name).to_owned();
        let Some(callee) = module.definition_of(called) else { return Err(EditError::NoBody { function }) };
        let definition = &module.functions[callee];
        let is_open_array =
            |param: &Param| matches!(param, Param::Var(var) if definition.vars[*var].dimensions.contains(&None));
        if definition.is_entry() {
            Err(EditError::KernelCalled { function })
        } else if definition.params.iter().any(is_open_array) {
            Err(EditError::Variadic { function })
        } else if definition.directive(&module.names, "noreturn").is_some() {
            Err(EditError::NoReturn { function })
        } else if module.calls_itself(callee) {
            Err(EditError::Recursive { function })
        } else {
            self.check_statements(definition, function)?;
            Ok(callee)
        }
    }

    fn check_statements(&self, callee: &Function, function: String) -> Result<(), EditError> {
        let body = callee.body.as_ref().expect("a definition has a body");
        for id in body.iter() {
            if let Stmt::Unknown(text) = body.stmt(id) {
                return Err(EditError::Unreadable { text: self.module.text(*text).to_owned() });
            }
            let effect = View::of(&self.module.forms, body, id).and_then(|view| view.effect());
            if effect == Some(Effect::Stack) {
                return Err(EditError::StackAllocation { function });
            }
        }
        Ok(())
    }
}

impl Module {
    /// Whether a function calls itself, directly or through others. Indirect calls are not followed.
    fn calls_itself(&self, func: FuncId) -> bool {
        self.functions_called_from(func).contains(&func)
    }

    /// The functions with a body that a function calls by name, directly or through others.
    pub(crate) fn functions_called_from(&self, func: FuncId) -> FxHashSet<FuncId> {
        let mut reached = FxHashSet::default();
        let mut pending = vec![func];
        while let Some(caller) = pending.pop() {
            pending.extend(self.direct_callees(caller).into_iter().filter(|&called| reached.insert(called)));
        }
        reached
    }

    /// The functions with a body that a function calls by name.
    fn direct_callees(&self, func: FuncId) -> FxHashSet<FuncId> {
        let Some(body) = &self.functions[func].body else { return FxHashSet::default() };
        let callees: FxHashSet<FuncId> = body
            .iter()
            .filter_map(|id| match View::of(&self.forms, body, id)?.callee()? {
                Callee::Direct(func) => Some(func),
                _ => None,
            })
            .collect();
        callees.into_iter().filter_map(|func| self.definition_of(func)).collect()
    }

    /// Makes the variables of a body that exist once, whoever calls the function, variables of the module.
    pub(super) fn make_statics_global(&mut self, func: FuncId) {
        let Some(mut body) = self.functions[func].body.take() else { return };
        let mut globals: FxHashMap<Var, Global> = FxHashMap::default();
        for id in body.ids() {
            let Stmt::Var(var) = *body.stmt(id) else { continue };
            let mut variable = self.functions[func].vars[var].clone();
            if !matches!(variable.space, Space::Shared | Space::Global | Space::Const) {
                continue;
            }
            let base = format!("{}_{}", self.text(self.functions[func].name), self.text(variable.name));
            variable.name = self.fresh_name(&base);
            for value in variable.init.iter_mut().flat_map(|init| &mut init.values) {
                if let InitValue::Address { symbol, .. } = value {
                    *symbol = global_symbol(&globals, *symbol).unwrap_or(*symbol);
                }
            }
            // Right before the function, where all that the initial value names is declared.
            let item = self.item_of(func);
            globals.insert(var, self.insert_variable(item, variable));
            body.remove(id);
        }
        if !globals.is_empty() {
            for id in body.ids() {
                if let Some(inst) = body.inst(id) {
                    let operands = inst.operands;
                    replace_symbols(&mut body, operands, &mut |symbol| global_symbol(&globals, symbol));
                }
            }
        }
        self.functions[func].body = Some(body);
    }

    /// Moves a function after another one if it is before it, so that it can name all that the other one names.
    pub(super) fn place_behind(&mut self, func: FuncId, other: FuncId) {
        let (from, to) = (self.item_of(func), self.item_of(other));
        if from > to {
            return;
        }
        let item = self.items.remove(from);
        self.items.insert(to, item);
        if self.is_named_between(self.functions[func].name, from, to) {
            let declaration = self.functions.push(self.functions[func].declaration());
            self.items.insert(from, Item::Function(declaration));
        }
    }

    /// Whether an item in the range names a function that no item before the range declares.
    fn is_named_between(&self, name: Name, from: usize, to: usize) -> bool {
        let is_it = |symbol: Symbol| matches!(symbol, Symbol::Func(func) if self.functions[func].name == name);
        let is_declared = self.items[..from]
            .iter()
            .any(|item| matches!(item, Item::Function(func) if self.functions[*func].name == name));
        let names_it = |item: &Item| match item {
            Item::Function(func) => self.functions[*func].body.as_ref().is_some_and(|body| {
                body.insts().any(|(_, inst)| {
                    let is_it = |operand: &Operand| matches!(operand, Operand::Symbol(symbol, _) if is_it(*symbol));
                    body.operands(inst.operands).iter().any(is_it)
                })
            }),
            Item::Variable(global) => {
                let values = self.globals[*global].init.iter().flat_map(|init| &init.values);
                values.into_iter().any(|value| matches!(value, InitValue::Address { symbol, .. } if is_it(*symbol)))
            }
            Item::Alias(alias) => is_it(Symbol::Func(alias.alias)) || is_it(Symbol::Func(alias.target)),
            _ => false,
        };
        !is_declared && self.items[from..to].iter().any(names_it)
    }
}

fn global_symbol(globals: &FxHashMap<Var, Global>, symbol: Symbol) -> Option<Symbol> {
    match symbol {
        Symbol::Var(var) => globals.get(&var).copied().map(Symbol::Global),
        _ => None,
    }
}
