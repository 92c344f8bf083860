//! Registers, labels, variables and parameters that were not there before.

use super::editor::Editor;
use crate::diagnostic::Position;
use crate::entity::Map;
use crate::ir::Variable;
use crate::ir::{FuncId, GroupId, InsertedBy, Label, LabelInfo, Param, Reg, RegGroup, RegInfo, Stmt, TagId, Var};
use crate::types::{Space, Type};

impl Editor<'_> {
    /// A fresh register: `%memcheck_check_b32_7`. All registers of one tool, role and type are one group, declared at
    /// the top of the function, so that they can be used anywhere in it.
    pub fn reg(&mut self, tag: TagId, ty: Type) -> Reg {
        self.vector_reg(tag, ty, 1)
    }

    /// A fresh register like another one, which may be a vector.
    pub fn reg_like(&mut self, tag: TagId, reg: Reg) -> Reg {
        let RegGroup { ty, vector, .. } = self.function().groups[self.function().regs[reg].group];
        self.vector_reg(tag, ty, vector)
    }

    /// A fresh register of 2 or 4 elements, or of one.
    pub fn vector_reg(&mut self, tag: TagId, ty: Type, vector: u8) -> Reg {
        let group = self.fresh_group(tag, ty, vector);
        let function = self.function_mut();
        let count = function.groups[group].count.as_mut().expect("fresh groups are numbered");
        let number = *count;
        *count += 1;
        function.regs.push(RegInfo { group, number })
    }

    /// A fresh label, called `base` if that name is free. It is known in the scope where it will be placed.
    pub fn label(&mut self, base: &str) -> Label {
        let (used, names) = self.names();
        let name = used.fresh(names, base);
        self.function_mut().labels.push(LabelInfo { name, at: Position::NONE })
    }

    /// Declares a variable at the top of the function, under its name if that is free: `.local` memory of the thread,
    /// `.shared` memory of the block, or a `.param` for calls.
    pub fn variable(&mut self, mut variable: Variable) -> Var {
        let base = self.module.text(variable.name).to_owned();
        let (used, names) = self.names();
        variable.name = used.fresh(names, &base);
        let var = self.function_mut().vars.push(variable);
        self.declare(Stmt::Var(var));
        var
    }

    /// Declares an array of bytes in a state space.
    pub fn byte_array(&mut self, space: Space, base: &str, len: u64, align: u32) -> Var {
        let name = self.module.names.intern(base);
        self.variable(Variable::bytes(name, space, len, align))
    }

    /// Appends a parameter, under its name if that is free, to the function and to all declarations of it. Calls are
    /// not changed.
    pub fn append_param(&mut self, mut variable: Variable) -> Var {
        let base = self.module.text(variable.name).to_owned();
        let (used, names) = self.names();
        variable.name = used.fresh(names, &base);
        variable.space = Space::Param;
        let name = self.function().name;
        let same_name = |(_, function): &(FuncId, &crate::ir::Function)| function.name == name;
        let all: Vec<FuncId> = self.module.functions.iter().filter(same_name).map(|(func, _)| func).collect();
        let mut own = None;
        for func in all {
            let function = &mut self.module.functions[func];
            let var = function.vars.push(variable.clone());
            function.params.push(Param::Var(var));
            if func == self.func {
                own = Some(var);
            }
        }
        own.expect("the function has its own name")
    }

    /// Makes a variable, or a parameter here and in all declarations of the function, an array of bytes. What accesses it is not
    /// changed, nor are those who pass it.
    pub fn make_bytes(&mut self, var: Var, len: u64, align: u32) {
        let to_bytes = |variable: &mut Variable| {
            *variable = Variable { at: variable.at, ..Variable::bytes(variable.name, variable.space, len, align) };
        };
        let is_it = |param: &Param| *param == Param::Var(var);
        let function = self.function();
        let name = function.name;
        let param = function.params.iter().position(is_it);
        let result = function.returns.iter().position(is_it);
        to_bytes(&mut self.function_mut().vars[var]);
        if (param, result) == (None, None) {
            return;
        }
        let others = self.module.functions.ids().filter(|func| *func != self.func);
        for func in others.collect::<Vec<_>>() {
            let function = &mut self.module.functions[func];
            let of_param = param.and_then(|index| function.params.get(index));
            let declared = of_param.or(result.and_then(|index| function.returns.get(index))).copied();
            if let (true, Some(Param::Var(var))) = (function.name == name, declared) {
                to_bytes(&mut function.vars[var]);
            }
        }
    }

    /// Copies a group under a free name and declares the copy at the top.
    pub(super) fn copy_group(&mut self, group: RegGroup) -> GroupId {
        let base = self.module.text(group.name).to_owned();
        let (used, names) = self.names();
        let name = match group.count {
            Some(_) => used.fresh_group(names, &base),
            None => used.fresh(names, &base),
        };
        let group = self.function_mut().groups.push(RegGroup { name, ..group });
        self.declare(Stmt::Regs(group));
        group
    }

    fn fresh_group(&mut self, tag: TagId, ty: Type, vector: u8) -> GroupId {
        let InsertedBy { tool, role, .. } = self.module.tags[tag];
        let key = (tool, role, ty, vector);
        if let Some(&group) = self.fresh_groups.get(&key) {
            return group;
        }
        let length = if vector == 1 { String::new() } else { format!("v{vector}") };
        let text = format!("%{}_{}_{length}{ty}_", self.module.text(tool), self.module.text(role)).replace('-', "_");
        let group = self.existing_group(&text, ty, vector).unwrap_or_else(|| {
            let name = self.module.names.intern(&text);
            self.copy_group(RegGroup { name, ty, vector, count: Some(0), at: Position::NONE })
        });
        self.fresh_groups.insert(key, group);
        group
    }

    /// The group of this name that an earlier editor declared, perhaps before the module was printed and parsed. It can
    /// grow if it is known everywhere in the function and nothing else has the names that it grows into.
    fn existing_group(&mut self, text: &str, ty: Type, vector: u8) -> Option<GroupId> {
        let name = self.module.names.find(text)?;
        let (used, _) = self.names();
        if used.is_prefix(name) {
            return None;
        }
        let groups: &Map<GroupId, RegGroup> = &self.function().groups;
        let mut same_name = groups.iter().filter(|(_, group)| group.name == name);
        let (id, group) = same_name.next()?;
        let is_alike = group.ty == ty && group.vector == vector && group.count.is_some();
        let is_at_top = || self.leading_declarations().any(|leading| *self.body().stmt(leading) == Stmt::Regs(id));
        (is_alike && same_name.next().is_none() && is_at_top()).then_some(id)
    }
}
