//! The arguments and results of a call: who stores into them and who loads from them.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::slots::{self, Access, Slot};
use crate::edit::builder::Builder;
use crate::edit::copy::Renaming;
use crate::edit::editor::Editor;
use crate::edit::error::EditError;
use crate::form::Forms;
use crate::ir::{FuncId, Function, Operand, Param, Stmt, StmtId, Symbol, TagId, Var, Variable};
use crate::ops::{Mod, Op};
use crate::types::{Space, Type};
use crate::view::View;

/// The arguments and results of a call.
pub(super) struct Arguments {
    pub(super) list: Vec<Argument>,
    /// The declarations of `.param` variables in the caller that only this call uses.
    pub(super) declarations: Vec<StmtId>,
}

/// One argument or result.
pub(super) struct Argument {
    formal: Param,
    actual: Operand,
    is_result: bool,
    /// Loads and stores of the parameter in the callee.
    in_callee: Vec<(StmtId, Access)>,
    /// Loads and stores of the `.param` variable in the caller.
    in_caller: Vec<(StmtId, Access)>,
    /// Whether the callee takes the address of the parameter.
    has_address: bool,
}

impl Argument {
    pub(super) fn formal_var(&self) -> Option<Var> {
        match self.formal {
            Param::Var(var) => Some(var),
            Param::Reg(_) => None,
        }
    }

    fn actual_var(&self) -> Option<Var> {
        match self.actual {
            Operand::Symbol(Symbol::Var(var), 0) => Some(var),
            _ => None,
        }
    }

    /// The type of what goes from or to a register at the call itself.
    fn formal_type(&self, callee: &Function) -> Type {
        match self.formal {
            Param::Var(var) => callee.vars[var].ty,
            Param::Reg(group) => callee.groups[group].ty,
        }
    }

    fn size(&self, callee: &Function) -> Option<u64> {
        match self.formal {
            Param::Var(var) => callee.vars[var].size(),
            Param::Reg(group) => Some(callee.groups[group].ty.bytes().into()),
        }
    }
}

/// A use of a `.param` variable.
enum Use {
    Access(Access),
    /// `mov.b64 %rd1, param;`
    Address,
    /// Passed to a call.
    Call,
    Other,
}

impl Arguments {
    /// Pairs the arguments of the call with the parameters of the callee and finds all their uses.
    pub(super) fn of(editor: &Editor<'_>, call: StmtId, callee_id: FuncId) -> Result<Self, EditError> {
        let callee = &editor.module().functions[callee_id];
        let mut arguments = Self { list: pair(editor, call, callee)?, declarations: Vec::new() };
        arguments.find_in_callee(editor, callee)?;
        arguments.find_in_caller(editor, call)?;
        Ok(arguments)
    }

    fn find_in_callee(&mut self, editor: &Editor<'_>, callee: &Function) -> Result<(), EditError> {
        let formals: FxHashMap<Var, usize> = self
            .list
            .iter()
            .enumerate()
            .filter_map(|(index, argument)| Some((argument.formal_var()?, index)))
            .collect();
        for (id, var, var_use) in uses(&editor.module().forms, callee, &formals) {
            let argument = &mut self.list[formals[&var]];
            match var_use {
                Use::Access(access) => argument.in_callee.push((id, access)),
                Use::Address => argument.has_address = true,
                Use::Call | Use::Other => return Err(parameter_use(editor, callee, var, id)),
            }
        }
        Ok(())
    }

    fn find_in_caller(&mut self, editor: &Editor<'_>, call: StmtId) -> Result<(), EditError> {
        let caller = editor.function();
        let mut actuals: FxHashMap<Var, usize> = FxHashMap::default();
        for (index, argument) in self.list.iter().enumerate() {
            let Some(var) = argument.actual_var() else { continue };
            if actuals.insert(var, index).is_some() {
                return Err(shared(editor, var));
            }
        }
        for (id, var, var_use) in uses(&editor.module().forms, caller, &actuals) {
            match var_use {
                Use::Access(access) => self.list[actuals[&var]].in_caller.push((id, access)),
                Use::Call if id == call => {}
                Use::Call => return Err(shared(editor, var)),
                Use::Address | Use::Other => return Err(parameter_use(editor, caller, var, id)),
            }
        }
        if !actuals.is_empty() {
            let is_declaration =
                |id: &StmtId| matches!(editor.body().stmt(*id), Stmt::Var(var) if actuals.contains_key(var));
            self.declarations = editor.body().iter().filter(is_declaration).collect();
        }
        Ok(())
    }

    /// Decides for each argument where its value lives.
    pub(super) fn make_slots(&self, editor: &mut Editor<'_>, callee: &Function, tag: TagId) -> Vec<Slot> {
        let slot = |argument: &Argument| {
            let mut accesses: Vec<&Access> =
                argument.in_callee.iter().chain(&argument.in_caller).map(|(_, access)| access).collect();
            let at_call = Access::whole(argument.formal_type(callee), argument.actual);
            if argument.formal_var().is_none() || argument.actual_var().is_none() {
                accesses.push(&at_call);
            }
            if !argument.has_address
                && let Some(pieces) = slots::pieces(editor, &accesses, tag)
            {
                return Slot::Pieces(pieces);
            }
            let name = editor.module_mut().names.intern("inlined_param");
            let len = argument.size(callee).expect("sizes were compared");
            let align_of = |function: &Function, var: Option<Var>| var.map_or(1, |var| function.vars[var].alignment());
            let align = align_of(callee, argument.formal_var()).max(align_of(editor.function(), argument.actual_var()));
            let align = align.max(argument.formal_type(callee).bytes());
            Slot::Local(editor.variable(Variable::bytes(name, Space::Local, len, align)))
        };
        self.list.iter().map(slot).collect()
    }

    /// Exchanges the loads and stores of the caller for what accesses the slots.
    pub(super) fn rewrite_caller(&self, editor: &mut Editor<'_>, slots: &[Slot], tag: TagId) {
        for (argument, slot) in self.list.iter().zip(slots) {
            for (id, access) in &argument.in_caller {
                match slot {
                    Slot::Local(local) => {
                        let inst = *editor.body().inst(*id).expect("accesses are instructions");
                        let form = super::local_form(editor, inst.form);
                        editor.set_form(*id, form);
                        let address = Operand::SymbolAddress(Symbol::Var(*local), access.offset);
                        editor.set_operand(*id, access.address_index(), address);
                    }
                    Slot::Pieces(pieces) => {
                        let moves = access.moves(editor.function(), pieces);
                        let Some(((spelling, operands), others)) = moves.split_first() else {
                            editor.remove(*id);
                            continue;
                        };
                        editor.replace(*id, access.guard, spelling, operands);
                        let mut builder = editor.after(*id, tag);
                        for (spelling, operands) in others {
                            builder.inst_if(access.guard, spelling, operands);
                        }
                    }
                }
            }
        }
    }

    /// Loads and stores of parameters in the callee, with the number of the argument.
    pub(super) fn callee_accesses(&self) -> impl Iterator<Item = (StmtId, (usize, &Access))> {
        let numbered = self.list.iter().enumerate();
        numbered.flat_map(|(index, argument)| argument.in_callee.iter().map(move |(id, access)| (*id, (index, access))))
    }

    /// Moves arguments into the slots, and from there into parameters, that are registers.
    pub(super) fn enter(&self, builder: &mut Builder<'_, '_>, slots: &[Slot], callee: &Function, renaming: &Renaming) {
        for (argument, slot) in self.list.iter().zip(slots).filter(|(argument, _)| !argument.is_result) {
            let ty = argument.formal_type(callee);
            if argument.actual_var().is_none() {
                slot.store(builder, ty, argument.actual);
            }
            if let Some(reg) = formal_reg(argument, callee, renaming) {
                slot.load(builder, ty, reg);
            }
        }
    }

    /// Moves results that are registers into the slots, and from there to where the caller wants them.
    pub(super) fn leave(&self, builder: &mut Builder<'_, '_>, slots: &[Slot], callee: &Function, renaming: &Renaming) {
        for (argument, slot) in self.list.iter().zip(slots).filter(|(argument, _)| argument.is_result) {
            let ty = argument.formal_type(callee);
            if let Some(reg) = formal_reg(argument, callee, renaming) {
                slot.store(builder, ty, reg);
            }
            if argument.actual_var().is_none() && argument.actual != Operand::Sink {
                slot.load(builder, ty, argument.actual);
            }
        }
    }
}

/// The register of the copied body that a parameter is, if it is one and is used.
fn formal_reg(argument: &Argument, callee: &Function, renaming: &Renaming) -> Option<Operand> {
    let Param::Reg(group) = argument.formal else { return None };
    let (reg, _) = callee.regs.iter().find(|(_, info)| info.group == group)?;
    Some(Operand::Reg(renaming.reg(reg)))
}

/// Pairs arguments and results with parameters, and compares their sizes.
fn pair(editor: &Editor<'_>, call: StmtId, callee: &Function) -> Result<Vec<Argument>, EditError> {
    let view = editor.view(call).expect("a call is an instruction");
    let function = || editor.module().text(callee.name).to_owned();
    let (mut results, mut arguments) = (SmallVec::new(), SmallVec::new());
    for (index, operand) in view.operands().iter().enumerate() {
        if let Operand::Arguments(list) = operand {
            let operands: SmallVec<[Operand; 8]> = editor.body().operands(*list).into();
            *(if index == 0 { &mut results } else { &mut arguments }) = operands;
        }
    }
    let mut paired = Vec::new();
    for (formals, actuals, is_result) in [(&callee.returns, results, true), (&callee.params, arguments, false)] {
        if formals.len() != actuals.len() {
            return Err(EditError::ArgumentCount {
                function: function(),
                declared: formals.len(),
                given: actuals.len(),
            });
        }
        for (&formal, &actual) in formals.iter().zip(&actuals) {
            let argument = Argument {
                formal,
                actual,
                is_result,
                in_callee: Vec::new(),
                in_caller: Vec::new(),
                has_address: false,
            };
            if !is_same_size(editor.function(), &argument, callee) {
                let name = match formal {
                    Param::Var(var) => callee.vars[var].name,
                    Param::Reg(group) => callee.groups[group].name,
                };
                let parameter = editor.module().text(name).to_owned();
                return Err(EditError::ArgumentSize { function: function(), parameter });
            }
            paired.push(argument);
        }
    }
    Ok(paired)
}

fn is_same_size(caller: &Function, argument: &Argument, callee: &Function) -> bool {
    let is_scalar = match argument.formal {
        Param::Var(var) => callee.vars[var].dimensions.is_empty() && callee.vars[var].vector == 1,
        Param::Reg(group) => callee.groups[group].vector == 1,
    };
    let size = match argument.actual {
        Operand::Symbol(Symbol::Var(var), 0) => {
            let is_own_param = caller.params.iter().chain(&caller.returns).any(|&param| param == Param::Var(var));
            if is_own_param || caller.vars[var].space != Space::Param { None } else { caller.vars[var].size() }
        }
        Operand::Reg(reg) if is_scalar && caller.groups[caller.regs[reg].group].vector == 1 => {
            Some(caller.reg_type(reg).bytes().into())
        }
        Operand::Sink => return argument.is_result,
        operand if operand.is_immediate() => return is_scalar && !argument.is_result,
        _ => None,
    };
    size.is_some() && size == argument.size(callee) && (is_scalar || argument.formal_var().is_some())
}

/// All uses of some variables in a function.
fn uses(forms: &Forms, function: &Function, vars: &FxHashMap<Var, usize>) -> Vec<(StmtId, Var, Use)> {
    let Some(body) = &function.body else { return Vec::new() };
    if vars.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for id in body.iter() {
        let Some(view) = View::of(forms, body, id) else { continue };
        let mut mentioned = FxHashSet::default();
        body.for_each_operand(view.inst.operands, &mut |operand| {
            if let Operand::Symbol(Symbol::Var(var), _)
            | Operand::SymbolAddress(Symbol::Var(var), _)
            | Operand::Element(Symbol::Var(var), _) = operand
                && vars.contains_key(&var)
            {
                mentioned.insert(var);
            }
        });
        for var in mentioned {
            found.push((id, var, use_of(function, &view, var)));
        }
    }
    found
}

fn use_of(function: &Function, view: &View<'_>, var: Var) -> Use {
    match (view.op(), view.operands()) {
        (Some(Op::Ld), &[data, Operand::SymbolAddress(Symbol::Var(found), offset)]) if found == var => {
            access(function, view, offset, data, true)
        }
        (Some(Op::St), &[Operand::SymbolAddress(Symbol::Var(found), offset), data]) if found == var => {
            access(function, view, offset, data, false)
        }
        (Some(Op::Mov), &[_, Operand::Symbol(Symbol::Var(found), _)]) if found == var => Use::Address,
        (Some(Op::Call), operands) => {
            let is_direct =
                |operand: &Operand| matches!(operand, Operand::Symbol(Symbol::Var(found), 0) if *found == var);
            let is_passed = |operand: &Operand| matches!(operand, Operand::Arguments(list) if view.body.operands(*list).iter().any(is_direct));
            if operands.iter().any(is_passed) { Use::Call } else { Use::Other }
        }
        _ => Use::Other,
    }
}

fn access(function: &Function, view: &View<'_>, offset: i32, data: Operand, is_load: bool) -> Use {
    let is_param = view.form.has(Mod::Param) || view.form.has(Mod::ParamFunc);
    match view.form.types() {
        &[ty] if is_param => {
            let elements = match data {
                Operand::Vector(list) => view.body.operands(list).into(),
                data => SmallVec::from_slice(&[data]),
            };
            let count = view.form.vector() as usize;
            let guard = view.inst.guard;
            Use::Access(Access::new(function, ty, offset, elements, count, is_load, guard))
        }
        _ => Use::Other,
    }
}

fn shared(editor: &Editor<'_>, var: Var) -> EditError {
    EditError::SharedArgument { argument: editor.module().text(editor.function().vars[var].name).to_owned() }
}

fn parameter_use(editor: &Editor<'_>, function: &Function, var: Var, id: StmtId) -> EditError {
    let body = function.body.as_ref().expect("the use is in a body");
    EditError::ParameterUse {
        parameter: editor.module().text(function.vars[var].name).to_owned(),
        instruction: crate::print_stmt(editor.module(), function, body, id).replace('\t', ""),
    }
}
