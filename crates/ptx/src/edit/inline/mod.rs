//! Inlining of direct calls.
//!
//! The body of the callee takes the place of the call; its registers, labels and variables get names of their own at
//! the top of the caller. Arguments that went through `.param` variables go through registers, one for each piece that
//! is stored and loaded, or through local memory if that is not possible (`slots.rs`).

mod arguments;
mod callee;
mod slots;

use rustc_hash::FxHashMap;

use self::arguments::Arguments;
use self::slots::Slot;
use super::builder::Builder;
use super::copy::Renaming;
use super::editor::Editor;
use super::error::EditError;
use crate::form::FormId;
use crate::ir::{FuncId, Function, Inst, Label, Operand, RegInfo, Stmt, StmtId, Symbol, TagId};
use crate::ops::{Mod, Op};
use crate::types::Space;
use crate::view::View;

/// What came of inlining a call.
#[derive(Clone, Debug)]
pub struct Inlined {
    /// The function that was called.
    pub callee: FuncId,
    /// The label after the copy of its body, where its returns go.
    pub end: Label,
    /// Statements of the callee with their copies in the caller, in order. An access to a parameter of several
    /// elements has several copies, of which the first is named.
    pub statements: Vec<(StmtId, StmtId)>,
}

impl Editor<'_> {
    /// Puts the body of the callee in the place of a call. The copies of its instructions carry the tag, those that
    /// only pass arguments too.
    ///
    /// Static variables of the callee become variables of the module, because there is one of each however often the
    /// callee is called. If the callee comes after the caller in the text, the caller is moved after it.
    pub fn inline(&mut self, call: StmtId, tag: TagId) -> Result<Inlined, EditError> {
        let callee_id = self.inlinable_callee(call)?;
        let arguments = Arguments::of(self, call, callee_id)?;
        // From here on nothing is refused.
        self.module.make_statics_global(callee_id);
        self.module.place_behind(self.func, callee_id);
        let callee = self.module.functions[callee_id].clone();
        self.unshadow(callee.body.as_ref().expect("only functions with a body are inlined").symbols());
        let slots = arguments.make_slots(self, &callee, tag);
        let mut renaming = self.copy_entities(&callee);
        for (argument, slot) in arguments.list.iter().zip(&slots) {
            if let (Some(formal), Slot::Local(local)) = (argument.formal_var(), slot) {
                renaming.vars.insert(formal, *local);
            }
        }
        arguments.rewrite_caller(self, &slots, tag);
        let body = callee.body.as_ref().expect("only functions with a body are inlined");
        let has_locations = body.iter().any(|id| matches!(body.stmt(id), Stmt::Loc(_)));
        let location = self.location(call).copied().filter(|_| has_locations);
        let guard = self.body().inst(call).and_then(|inst| inst.guard);

        let mut builder = self.before(call, tag);
        let end = builder.label("return");
        let around = guard.map(|guard| {
            let around = builder.label("not_called");
            builder.branch(Some(guard.inverted()), around);
            around
        });
        arguments.enter(&mut builder, &slots, &callee, &renaming);
        let copy = BodyCopy { callee: &callee, renaming: &renaming, slots: &slots, end, tag };
        let statements = copy.insert(&mut builder, &arguments);
        builder.place(end);
        arguments.leave(&mut builder, &slots, &callee, &renaming);
        if let Some(around) = around {
            builder.place(around);
        }
        if let Some(location) = location {
            builder.location(location);
        }
        self.remove(call);
        for declaration in arguments.declarations {
            self.remove(declaration);
        }
        Ok(Inlined { callee: callee_id, end, statements })
    }

    /// Makes registers, labels and variables for a copy of the callee's body.
    fn copy_entities(&mut self, callee: &Function) -> Renaming {
        let mut renaming = Renaming::default();
        let mut groups = FxHashMap::default();
        for (reg, info) in callee.regs.iter() {
            let group = *groups.entry(info.group).or_insert_with(|| self.copy_group(callee.groups[info.group]));
            let copy = self.function_mut().regs.push(RegInfo { group, ..*info });
            renaming.regs.insert(reg, copy);
        }
        let body = callee.body.as_ref().expect("only functions with a body are inlined");
        for id in body.iter() {
            match *body.stmt(id) {
                Stmt::Var(var) => {
                    let copy = self.variable(callee.vars[var].clone());
                    renaming.vars.insert(var, copy);
                }
                Stmt::Label(label)
                | Stmt::BranchTargets(label, _)
                | Stmt::CallTargets(label, _)
                | Stmt::CallPrototype(label, _) => {
                    let base = self.module.text(callee.labels[label].name).to_owned();
                    let copy = self.label(&base);
                    renaming.labels.insert(label, copy);
                }
                _ => {}
            }
        }
        renaming
    }
}

/// The copying of the callee's statements.
struct BodyCopy<'a> {
    callee: &'a Function,
    renaming: &'a Renaming,
    slots: &'a [Slot],
    end: Label,
    tag: TagId,
}

impl BodyCopy<'_> {
    fn insert(&self, builder: &mut Builder<'_, '_>, arguments: &Arguments) -> Vec<(StmtId, StmtId)> {
        let body = self.callee.body.as_ref().expect("only functions with a body are inlined");
        let accesses: FxHashMap<StmtId, _> = arguments.callee_accesses().collect();
        let mut statements = Vec::new();
        for id in body.iter() {
            let at = body.position(id);
            let origin = builder.editor().module_mut().copied_origin(body.origin(id), self.tag);
            if let Some(&(index, access)) = accesses.get(&id)
                && let Slot::Pieces(pieces) = &self.slots[index]
            {
                let access = access.renamed(self.renaming);
                let moves = access.moves(builder.editor().function(), pieces);
                let mut first = None;
                for (spelling, operands) in moves {
                    let guard = access.guard;
                    let form = builder.editor().form(&spelling);
                    let inst = builder.editor().body_mut().make_inst(guard, form, &operands);
                    let copy = builder.stmt_from(Stmt::Inst(inst), at, origin);
                    first.get_or_insert(copy);
                }
                statements.extend(first.map(|copy| (id, copy)));
                continue;
            }
            let Some(stmt) = self.renaming.stmt(Some(body), builder.editor().body_mut(), body.stmt(id)) else {
                continue;
            };
            let stmt = self.adapt(builder, stmt);
            statements.push((id, builder.stmt_from(stmt, at, origin)));
        }
        statements
    }

    /// Turns returns into branches, and accesses to parameters that are in local memory now into local ones.
    fn adapt(&self, builder: &mut Builder<'_, '_>, stmt: Stmt) -> Stmt {
        let Stmt::Inst(inst) = stmt else { return stmt };
        let editor = builder.editor();
        let form = &editor.module().forms[inst.form];
        if form.op() == Some(Op::Ret) {
            let spelling = if form.has(Mod::Uni) { "bra.uni" } else { "bra" };
            let form = editor.form(spelling);
            let operands = [self.end.into()];
            return Stmt::Inst(editor.body_mut().make_inst(inst.guard, form, &operands));
        }
        let form = match address_of_param_access(editor, inst) {
            // Only the address of the callee's own parameter can be in the register.
            Some(Operand::RegAddress(..)) => local_form(editor, inst.form),
            Some(Operand::SymbolAddress(Symbol::Var(var), _)) if editor.function().vars[var].space == Space::Local => {
                local_form(editor, inst.form)
            }
            _ => inst.form,
        };
        Stmt::Inst(Inst { form, ..inst })
    }
}

/// The address of a load or store that is spelled as one of a parameter of a device function.
fn address_of_param_access(editor: &Editor<'_>, inst: Inst) -> Option<Operand> {
    let view = View { body: editor.body(), form: &editor.module().forms[inst.form], inst: &inst };
    let is_access = matches!(view.op(), Some(Op::Ld | Op::St));
    if !is_access || !(view.form.has(Mod::Param) || view.form.has(Mod::ParamFunc)) {
        return None;
    }
    view.operands().iter().copied().find(|operand| operand.is_address())
}

/// The form of the same access to local memory.
fn local_form(editor: &mut Editor<'_>, form: FormId) -> FormId {
    let forms = &mut editor.module_mut().forms;
    let form = forms.replace_modifier(form, "param", "local");
    forms.replace_modifier(form, "param::func", "local")
}
