//! Copies of whole functions.

use rustc_hash::FxHashSet;

use super::copy::replace_symbols;
use super::error::EditError;
use crate::ir::{FuncId, Function, Item, Label, Module, Operand, SectionData, Symbol, TagId};
use crate::name::Name;
use crate::view::{Callee, View};

/// Whom a copy of a function calls where the function calls itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SelfCalls {
    /// The original.
    ToOriginal,
    /// The copy.
    ToCopy,
}

impl Module {
    /// Copies a function under another name, right after the original: registers, labels and the variables of its
    /// body are its own, those of the module are shared. Declarations of the function are copied too.
    pub fn clone_function(
        &mut self,
        func: FuncId,
        name: &str,
        self_calls: SelfCalls,
        tag: Option<TagId>,
    ) -> Result<FuncId, EditError> {
        let new_name = self.names.intern(name);
        if self.is_name_taken(new_name) {
            return Err(EditError::NameTaken { name: name.to_owned() });
        }
        let old_name = self.functions[func].name;
        let same_name = |(_, function): &(FuncId, &Function)| function.name == old_name;
        let all: Vec<FuncId> = self.functions.iter().filter(same_name).map(|(func, _)| func).collect();
        let mut copy_of_func = func;
        for original in all {
            let mut copy = self.functions[original].clone();
            copy.name = new_name;
            let id = self.functions.push(copy);
            let item = self.item_of(original);
            self.items.insert(item + 1, Item::Function(id));
            if original == func {
                copy_of_func = id;
            }
        }
        self.rename_debug_labels(copy_of_func);
        let Some(mut body) = self.functions[copy_of_func].body.take() else { return Ok(copy_of_func) };
        for id in body.ids() {
            if let Some(tag) = tag {
                let origin = self.copied_origin(body.origin(id), tag);
                body.set_origin(id, origin);
            }
            if self_calls == SelfCalls::ToCopy
                && let Some(inst) = body.inst(id)
            {
                let operands = inst.operands;
                let names_original =
                    |symbol| matches!(symbol, Symbol::Func(func) if self.functions[func].name == old_name);
                replace_symbols(&mut body, operands, &mut |symbol| {
                    names_original(symbol).then_some(Symbol::Func(copy_of_func))
                });
            }
        }
        self.functions[copy_of_func].body = Some(body);
        Ok(copy_of_func)
    }

    /// Makes the calls of a function by name go to other functions. Addresses that it takes stay what they are.
    pub fn redirect_calls(&mut self, func: FuncId, mut target: impl FnMut(FuncId) -> Option<FuncId>) {
        let Some(mut body) = self.functions[func].body.take() else { return };
        for id in body.ids() {
            let Some(Callee::Direct(callee)) = View::of(&self.forms, &body, id).and_then(|view| view.callee()) else {
                continue;
            };
            if let (Some(target), Some(inst)) = (target(callee), body.inst(id)) {
                // Arguments have lists of their own: what is passed on is not called.
                let operands = inst.operands;
                for operand in body.operands_mut(operands) {
                    if let Operand::Symbol(symbol @ Symbol::Func(_), 0) = operand {
                        *symbol = Symbol::Func(target);
                    }
                }
            }
        }
        self.functions[func].body = Some(body);
    }

    /// Gives the labels that debugging information names other names in a copy: the information is about the original.
    fn rename_debug_labels(&mut self, func: FuncId) {
        let mut in_sections: FxHashSet<Name> = FxHashSet::default();
        for item in &self.items {
            let Item::Section(_, section) = item else { continue };
            for data in &section.data {
                match *data {
                    SectionData::Int(_) => {}
                    SectionData::Name(name, _) => _ = in_sections.insert(name),
                    SectionData::Difference(first, second) => in_sections.extend([first, second]),
                }
            }
        }
        let labels = &self.functions[func].labels;
        let is_named = |label: &Label| in_sections.contains(&labels[*label].name);
        for label in labels.ids().filter(is_named).collect::<Vec<_>>() {
            let base = self.text(self.functions[func].labels[label].name).to_owned();
            self.functions[func].labels[label].name = self.fresh_name(&base);
        }
    }
}
