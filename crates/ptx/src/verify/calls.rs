//! Calls: the callee is a function, and arguments and results are as many as it declares.

use super::Verifier;
use crate::ir::{Function, Operand, Param, StmtId, Symbol};
use crate::view::{Callee, View};

impl Verifier<'_> {
    pub(super) fn check_call(&mut self, id: StmtId, view: View<'_>) {
        let Some(callee) = view.callee() else { return };
        match callee {
            Callee::Direct(func) => {
                let callee = &self.module.functions[func];
                let name = self.module.text(callee.name).to_owned();
                if callee.is_entry() {
                    self.error(id, None, format!("`{name}` is a kernel, and kernels cannot be called"));
                    return;
                }
                let (results, arguments) = lists(view);
                let declared = (callee.returns.len(), callee.params.len());
                let is_variadic = is_variadic(callee);
                self.check_count(id, "results", &name, results, declared.0, false);
                self.check_count(id, "arguments", &name, arguments, declared.1, is_variadic);
            }
            Callee::Indirect(reg) => {
                let has_targets =
                    view.operands().iter().any(|operand| matches!(operand, Operand::Symbol(Symbol::Label(_), 0)));
                if !has_targets {
                    let name = self.reg_name(reg);
                    let message = format!("a call through `{name}` needs a `.callprototype` or `.calltargets` label");
                    self.error(id, None, message);
                }
            }
            Callee::Unknown => {}
        }
    }

    fn check_count(&mut self, id: StmtId, what: &str, name: &str, given: usize, declared: usize, more_allowed: bool) {
        if given != declared && !(more_allowed && given >= declared) {
            self.error(id, None, format!("`{name}` has {declared} {what}, but {given} are given"));
        }
    }
}

/// Numbers of results and arguments.
fn lists(view: View<'_>) -> (usize, usize) {
    let mut results = 0;
    let mut arguments = 0;
    for (index, operand) in view.operands().iter().enumerate() {
        if let Operand::Arguments(list) = operand {
            *(if index == 0 { &mut results } else { &mut arguments }) = list.len();
        }
    }
    (results, arguments)
}

/// An array without a length as last parameter stands for any number of further bytes.
fn is_variadic(callee: &Function) -> bool {
    match callee.params.last() {
        Some(Param::Var(var)) => callee.vars[*var].dimensions.contains(&None),
        _ => false,
    }
}
