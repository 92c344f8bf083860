//! Whether a module is consistent: every name declared and visible, every operand of a type that its instruction takes.
//!
//! The rules are those of ptxas as far as they concern what rewriting can break. A module that verifies is not
//! thereby accepted by ptxas for a given architecture.

mod calls;
mod comparison;
mod scopes;
mod types;

use rustc_hash::FxHashSet;

use crate::diagnostic::{Diagnostic, Severity};
use crate::form::Form;
use crate::ir::{Body, Function, Module, Operand, Stmt, StmtId, Symbol};
use crate::ops::{OperandShape, Row};
use crate::view::View;

/// Checks a module and says what is wrong with it. Unknown instructions are warnings, everything else is an error.
///
/// ```
/// let parsed = ptx::parse(
///     ".version 8.0\n.target sm_80\n.address_size 64\n\
///      .visible .entry k() { .reg .b32 %r<2>; .reg .f32 %f<2>; add.s32 %r1, %r1, %f1; ret; }",
/// );
/// let complaints = ptx::verify(&parsed.module);
/// assert_eq!(complaints.len(), 1);
/// assert!(complaints[0].message.contains("`%f1` is a register of type `.f32`"));
/// ```
pub fn verify(module: &Module) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut defined = FxHashSet::default();
    for function in module.functions.values() {
        if let Some(body) = &function.body {
            if !defined.insert(function.name) {
                let message = format!("`{}` is defined twice", module.text(function.name));
                diagnostics.push(Diagnostic::error(function.at, 0, message));
            }
            Verifier { module, function, body, diagnostics: &mut diagnostics }.function();
        }
    }
    for (_, variable) in module.globals.iter() {
        for value in variable.init.iter().flat_map(|init| &init.values) {
            if let crate::ir::InitValue::Address { symbol: Symbol::Undeclared(name), .. } = value {
                let message = format!(
                    "the initial value of `{}` names `{}`, which is not declared before it",
                    module.text(variable.name),
                    module.text(*name)
                );
                diagnostics.push(Diagnostic::error(variable.at, module.text(variable.name).len() as u32, message));
            }
        }
    }
    diagnostics
}

struct Verifier<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Verifier<'a> {
    fn function(&mut self) {
        self.check_scopes();
        for id in self.body.iter() {
            match self.body.stmt(id) {
                Stmt::Inst(_) => {
                    let view = View::of(&self.module.forms, self.body, id).expect("the statement is an instruction");
                    self.instruction(id, view);
                }
                Stmt::Unknown(text) => {
                    let text = self.module.text(*text);
                    let word = text.split([' ', '\t', '\n']).next().unwrap_or(text);
                    self.unknown_instruction(id, word);
                }
                _ => {}
            }
        }
    }

    fn instruction(&mut self, id: StmtId, view: View<'a>) {
        if let Some(guard) = view.inst.guard
            && self.function.reg_type(guard.reg) != crate::types::Type::Pred
        {
            let name = self.reg_name(guard.reg);
            let ty = self.function.reg_type(guard.reg);
            self.error(id, None, format!("the guard `{name}` is a register of type `.{ty}`, not a predicate"));
        }
        if !view.form.is_known() {
            self.unknown_instruction(id, view.form.spelling());
            return;
        }
        let Some(row) = view.row() else { return };
        let Some(matched) = view.matched_operands() else {
            self.wrong_operands(id, view, row);
            return;
        };
        for (index, (operand, spec)) in matched.iter().enumerate() {
            match spec.shape {
                OperandShape::Value { ty, .. } => self.check_value(id, view.form, index, operand, ty, spec.written),
                OperandShape::Pair { ty, .. } => self.check_pair(id, view.form, index, operand, ty),
                OperandShape::Address(_) => self.check_address(id, index, operand),
                OperandShape::Label | OperandShape::Function | OperandShape::Arguments => {}
            }
        }
        self.check_call(id, view);
        self.check_comparison(id, view);
    }

    fn unknown_instruction(&mut self, id: StmtId, spelling: &str) {
        let mut diagnostic = self.diagnostic(id, None, format!("unknown instruction `{spelling}`"));
        diagnostic.severity = Severity::Warning;
        let base = spelling.split('.').next().unwrap_or_default();
        diagnostic.help = Some(if crate::ops::rows_of(base).is_empty() {
            "it is kept as written; tools treat it as something that they cannot check".to_owned()
        } else {
            format!("`{base}` is known, but not with these modifiers; it is kept as written")
        });
        self.diagnostics.push(diagnostic);
    }

    /// Says in which way the operands do not fit.
    fn wrong_operands(&mut self, id: StmtId, view: View<'a>, row: &Row) {
        let spelling = view.form.spelling();
        let found = view.operands().len();
        let (fewest, most) = row.operand_counts();
        let takes = if row.text.1.is_empty() { "no operands".to_owned() } else { format!("`{}`", plain(row.text.1)) };
        let message = if found < fewest || found > most {
            format!("`{spelling}` takes {takes}, but {found} operands are given")
        } else {
            format!("the operands of `{spelling}` have the wrong shape: it takes {takes}")
        };
        self.error(id, None, message);
    }

    fn reg_name(&self, reg: crate::ir::Reg) -> String {
        crate::describe::reg_name(self.module, self.function, reg)
    }

    fn diagnostic(&self, id: StmtId, operand: Option<usize>, message: String) -> Diagnostic {
        Diagnostic::error(self.body.position(id), 0, message).about_operand(operand)
    }

    fn error(&mut self, id: StmtId, operand: Option<usize>, message: String) {
        let diagnostic = self.diagnostic(id, operand, message);
        self.diagnostics.push(diagnostic);
    }

    fn check_address(&mut self, id: StmtId, index: usize, operand: &Operand) {
        match *operand {
            Operand::RegAddress(reg, _) => {
                let ty = self.function.reg_type(reg);
                if !matches!(ty.bits(), 32 | 64) || ty.kind() == crate::types::TypeKind::Float {
                    let name = self.reg_name(reg);
                    let message = format!("`{name}` is a register of type `.{ty}` and cannot hold an address");
                    self.error(id, Some(index), message);
                }
            }
            Operand::SymbolAddress(Symbol::Label(_), _) => {
                self.error(id, Some(index), "a label is not an address of memory".to_owned());
            }
            _ => {}
        }
    }
}

/// The operand column of the table without the notes after colons, as the manual would write it.
fn plain(column: &str) -> String {
    let mut out = String::new();
    let mut skipping = false;
    for c in column.chars() {
        match c {
            ':' => skipping = true,
            ',' | ']' | '}' | '|' | '{' => {
                skipping = false;
                out.push(c);
            }
            _ if !skipping => out.push(c),
            _ => {}
        }
    }
    out
}

impl Form {
    /// The n-th type among the modifiers, or the last one if there are fewer.
    fn nth_type(&self, nth: usize) -> Option<crate::types::Type> {
        self.types().get(nth).or(self.types().last()).copied()
    }
}
