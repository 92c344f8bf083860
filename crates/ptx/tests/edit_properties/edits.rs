//! Random edits that must not change what a program computes.

use ptx::edit::{EditError, Editor, Point, Registers, SelfCalls};
use ptx::entity::Id;
use ptx::ir::{FuncId, Module, Operand, Stmt, StmtId, Symbol};
use ptx::ops::Effect;
use ptx::types::{Space, Type};

pub(crate) struct Edits<'m> {
    pub(crate) module: &'m mut Module,
}

impl Edits<'_> {
    /// Makes an edit, and says which.
    pub(crate) fn apply(&mut self, [kind, function, first, last]: [u32; 4]) -> String {
        let functions: Vec<FuncId> = self
            .module
            .functions
            .iter()
            .filter(|(_, function)| function.body.is_some())
            .map(|(func, _)| func)
            .collect();
        let func = functions[function as usize % functions.len()];
        let what = match kind % 7 {
            0 => self.count(func),
            1 => self.split(func, first),
            2 => self.inline(func, first),
            3 => self.detour(func, first, last),
            4 => self.shadow(func, first, last),
            5 => self.twin(func),
            _ => self.flatten(func),
        };
        format!("{what} in {}", self.module.text(self.module.functions[func].name))
    }

    fn editor(&mut self, func: FuncId) -> Editor<'_> {
        Editor::new(self.module, func).expect("the function has a body")
    }

    /// Counts the executed instructions.
    fn count(&mut self, func: FuncId) -> &'static str {
        let mut editor = self.editor(func);
        let tag = editor.tag("count", "inst", 0);
        let counter = editor.reg(tag, Type::B32);
        for id in editor.body().ids().into_iter().filter(|id| id.index() % 3 == 0) {
            editor.before(id, tag).inst("add.u32", &[counter.into(), counter.into(), 1.into()]);
        }
        editor.at_entry(tag).inst("mov.b32", &[counter.into(), 0.into()]);
        "count"
    }

    fn split(&mut self, func: FuncId, which: u32) -> &'static str {
        let mut editor = self.editor(func);
        let tag = editor.tag("split", "block", 0);
        let insts: Vec<StmtId> = editor.body().insts().map(|(id, _)| id).collect();
        let label = editor.split_with_branch(insts[which as usize % insts.len()], tag).expect("everything is readable");
        // What goes there can go through another label as well.
        let mut builder = editor.at_end(tag);
        let through = builder.label("through");
        builder.place(through);
        builder.branch(None, label);
        let own = builder.editor().body().last().expect("the branch was inserted");
        let others: Vec<StmtId> = editor.body().iter().filter(|&id| id != own).collect();
        editor.redirect_in(&others, label, through);
        "split"
    }

    fn inline(&mut self, func: FuncId, which: u32) -> &'static str {
        let mut editor = self.editor(func);
        let tag = editor.tag("inline", "body", which % 5);
        let is_call = |id: &StmtId| editor.view(*id).is_some_and(|view| view.callee().is_some());
        let calls: Vec<StmtId> = editor.body().iter().filter(is_call).collect();
        if calls.is_empty() || editor.body().capacity() > 3000 {
            return "nothing";
        }
        match editor.inline(calls[which as usize % calls.len()], tag) {
            Ok(_) => "inline",
            // A detour may have copied the call without its loads and stores.
            Err(EditError::SharedArgument { .. }) => "nothing",
            Err(error) => panic!("{error}"),
        }
    }

    /// Executes a copy in the place of a region.
    fn detour(&mut self, func: FuncId, first: u32, last: u32) -> &'static str {
        let mut editor = self.editor(func);
        let tag = editor.tag("detour", "copy", 1);
        editor.flatten().expect("everything is readable");
        let ids: Vec<StmtId> = editor
            .body()
            .iter()
            .filter(|&id| !matches!(editor.body().stmt(id), Stmt::Regs(_) | Stmt::Var(_)))
            .collect();
        if ids.len() > 3000 {
            return "nothing";
        }
        let (first, last) = (first as usize % ids.len(), last as usize % ids.len());
        let region = &ids[first.min(last)..=first.max(last)];
        // A statement left out in the middle is executed in its old place, and control stays there.
        let mut region = region.to_vec();
        if first > last && region.len() > 3 {
            region.remove(region.len() / 2);
        }
        let start = region[0];
        let end = editor.body().next(*region.last().expect("a region has statements"));
        let after = end.map(|end| editor.split_before(end, tag).expect("the function is flat"));
        let mut builder = editor.at_end(tag);
        builder.inst("ret", &[]);
        let copy = builder.label("copy");
        builder.place(copy);
        editor.clone_region(&region, Point::End, Registers::Shared, tag).expect("the region is in order");
        let mut builder = editor.at_end(tag);
        match after {
            Some(label) => builder.branch(None, label),
            None => builder.inst("ret", &[]),
        };
        editor.before(start, tag).branch(None, copy);
        "detour"
    }

    /// Executes a copy with its own registers before a region, or in its place.
    fn shadow(&mut self, func: FuncId, first: u32, last: u32) -> &'static str {
        let mut editor = self.editor(func);
        let tag = editor.tag("shadow", "copy", 1);
        editor.flatten().expect("everything is readable");
        let ids = editor.body().ids();
        let (first, last) = (first as usize % ids.len(), last as usize % ids.len());
        let region = &ids[first.min(last)..=first.max(last)];
        let is_label = |&&id: &&StmtId| matches!(editor.body().stmt(id), Stmt::Label(_));
        let labels: Vec<Stmt> = region.iter().filter(is_label).map(|&id| editor.body().stmt(id).clone()).collect();
        let effects: Vec<Option<Effect>> =
            region.iter().filter_map(|&id| editor.view(id)).map(|view| view.effect()).collect();
        let comes_out_at_end = |&id: &StmtId| match editor.view(id) {
            Some(view) => match view.effect() {
                Some(Effect::Branch) => {
                    view.branch_target().is_some_and(|target| labels.contains(&Stmt::Label(target)))
                }
                effect => effect != Some(Effect::Return),
            },
            None => !matches!(editor.body().stmt(id), Stmt::Regs(_) | Stmt::Var(_)),
        };
        if !region.iter().all(comes_out_at_end) {
            return "nothing";
        }
        let start = region[0];
        let Some(after) = editor.body().next(*region.last().expect("a region has statements")) else {
            return "nothing";
        };
        if effects.iter().all(|effect| matches!(effect, Some(Effect::Pure | Effect::Load))) {
            editor
                .clone_region(region, Point::Before(start), Registers::Separate, tag)
                .expect("the region is in order");
        }
        let after = editor.split_before(after, tag).expect("the function is flat");
        let copied =
            editor.clone_region(region, Point::Before(start), Registers::Fresh, tag).expect("the region is in order");
        let mut builder = editor.before(start, tag);
        for (own, fresh) in copied.regs {
            let ty = builder.editor().function().reg_type(own);
            let spelling = if ty == Type::Pred { "mov.pred".to_owned() } else { format!("mov.b{}", ty.bits()) };
            builder.inst(&spelling, &[own.into(), fresh.into()]);
        }
        builder.branch(None, after);
        "shadow"
    }

    /// Calls a copy instead of a function.
    fn twin(&mut self, func: FuncId) -> &'static str {
        let name = self.module.text(self.module.functions[func].name).to_owned();
        let function = &self.module.functions[func];
        let body = function.body.as_ref().expect("the function has a body");
        let is_static = |id| matches!(body.stmt(id), Stmt::Var(var) if function.vars[*var].space == Space::Shared);
        if name == "main" || body.iter().any(is_static) || self.module.functions.len() > 6 {
            return "nothing";
        }
        let tag = self.module.tag_named("twin", "copy", 1);
        let twin = self.module.fresh_name(&name);
        let twin = self.module.text(twin).to_owned();
        let copy = self.module.clone_function(func, &twin, SelfCalls::ToCopy, Some(tag)).expect("the name is free");
        let callers: Vec<FuncId> = self.module.functions.ids().filter(|&caller| caller != copy).collect();
        for caller in callers {
            let own_name = self.module.functions[func].name;
            // Only who comes after the copy can call it.
            let place = |func| self.module.items.iter().position(|item| *item == ptx::ir::Item::Function(func));
            if place(caller) < place(copy) {
                continue;
            }
            let Ok(mut editor) = Editor::new(self.module, caller) else { continue };
            for id in editor.body().ids() {
                let Some(view) = editor.view(id) else { continue };
                let is_it = |operand: &Operand| matches!(operand, Operand::Symbol(Symbol::Func(func), 0) if editor.module().functions[*func].name == own_name);
                if let Some(index) = view.operands().iter().position(is_it) {
                    editor.set_operand(id, index, copy.into());
                }
            }
        }
        "twin"
    }

    fn flatten(&mut self, func: FuncId) -> &'static str {
        self.editor(func).flatten().expect("everything is readable");
        "flatten"
    }
}
