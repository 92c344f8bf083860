//! Whether two declarations of one name can mean the same thing.

use std::fmt;

use crate::ir::{Function, FunctionKind, Module, Param, Symbol, Variable};
use crate::types::Space;

/// In what two declarations of one name differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// One is a function, the other a variable or a kernel.
    Kind(&'static str, &'static str),
    /// Their memory is another one.
    Space(Space, Space),
    /// Their sizes in bytes.
    Size(u64, u64),
    /// How many parameters they have.
    ParameterCount(usize, usize),
    /// How many results they have.
    ResultCount(usize, usize),
    /// The parameter (from 1) that differs in size, alignment, or in being a scalar, an array or a register.
    Parameter(usize),
    /// The result (from 1) that differs.
    Result(usize),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(first, second) => write!(f, "{first} and {second}"),
            Self::Space(first, second) => write!(f, "in .{first} and in .{second} memory"),
            Self::Size(first, second) => write!(f, "{first} and {second} bytes large"),
            Self::ParameterCount(first, second) => write!(f, "with {first} and with {second} parameters"),
            Self::ResultCount(first, second) => write!(f, "with {first} and with {second} results"),
            Self::Parameter(number) => {
                write!(f, "with another size, alignment or kind of parameter {number}")
            }
            Self::Result(number) => write!(f, "with another size, alignment or kind of result {number}"),
        }
    }
}

/// In what two functions or variables differ, so that one cannot stand for the other. An array without a length is as
/// long as the other one.
pub(crate) fn difference(first: (&Module, Symbol), second: (&Module, Symbol)) -> Option<Difference> {
    match (first.1, second.1) {
        (Symbol::Func(left), Symbol::Func(right)) => of_functions(&first.0.functions[left], &second.0.functions[right]),
        (Symbol::Global(left), Symbol::Global(right)) => of_variables(&first.0.globals[left], &second.0.globals[right]),
        _ => Some(Difference::Kind(kind(first), kind(second))),
    }
}

fn kind((module, symbol): (&Module, Symbol)) -> &'static str {
    match symbol {
        Symbol::Func(func) => kind_of(&module.functions[func]),
        _ => "a variable",
    }
}

fn kind_of(function: &Function) -> &'static str {
    match function.kind {
        FunctionKind::Entry => "a kernel",
        FunctionKind::Func => "a function",
    }
}

fn of_variables(first: &Variable, second: &Variable) -> Option<Difference> {
    if first.space != second.space {
        return Some(Difference::Space(first.space, second.space));
    }
    match (first.size(), second.size()) {
        (Some(left), Some(right)) if left != right => Some(Difference::Size(left, right)),
        _ => None,
    }
}

fn of_functions(first: &Function, second: &Function) -> Option<Difference> {
    if first.kind != second.kind {
        return Some(Difference::Kind(kind_of(first), kind_of(second)));
    }
    if first.returns.len() != second.returns.len() {
        return Some(Difference::ResultCount(first.returns.len(), second.returns.len()));
    }
    if first.params.len() != second.params.len() {
        return Some(Difference::ParameterCount(first.params.len(), second.params.len()));
    }
    let differ = |left: &[Param], right: &[Param]| {
        left.iter().zip(right).position(|(left, right)| shape(first, *left) != shape(second, *right))
    };
    differ(&first.returns, &second.returns)
        .map(|index| Difference::Result(index + 1))
        .or_else(|| differ(&first.params, &second.params).map(|index| Difference::Parameter(index + 1)))
}

/// What callers and callees must agree in: what it is (ptxas tells arrays from scalars), its size and alignment.
fn shape(function: &Function, param: Param) -> (&'static str, Option<u64>, u32) {
    match param {
        Param::Var(var) => {
            let variable = &function.vars[var];
            let kind = if variable.dimensions.is_empty() { "scalar" } else { "array" };
            (kind, variable.size(), variable.alignment())
        }
        Param::Reg(group) => {
            let group = &function.groups[group];
            ("register", Some(u64::from(group.ty.bits()) * u64::from(group.vector)), 0)
        }
    }
}
