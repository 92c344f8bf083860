//! Shared memory for each copy of a block: in place of every variable there is one that is twice as large, and the second copy
//! has its upper half.
//!
//! The distance of the halves is a constant where it can be: so devices see that the addresses of a warp are as regular as
//! before, in two halves.

use ptx::ir::{FuncId, Function, List, Module, Operand, Reg, StmtId, Symbol, Variable};
use ptx::types::{Space, Type};
use rewrite::Cursor;
use rustc_hash::{FxHashMap, FxHashSet};

use super::SHARED_DISTANCE;
use super::copies;
use super::version::Pair;

/// Bytes of the variables in shared memory that a function has or names, without those whose size a launch gives.
pub(super) fn static_bytes(at: &mut Cursor<'_, '_>) -> u64 {
    let editor = at.editor();
    static_bytes_of(editor.module(), editor.func())
}

/// The same for a function of a module.
pub(super) fn static_bytes_of(module: &Module, func: FuncId) -> u64 {
    let function = &module.functions[func];
    let mut seen = FxHashSet::default();
    let mut bytes = 0;
    for (_, _, symbol) in uses(module, function) {
        if seen.insert(symbol) {
            bytes += variable(module, function, symbol).and_then(Variable::size).unwrap_or(0);
        }
    }
    bytes
}

/// Lets the function access the memory of its copy.
pub(super) fn double(at: &mut Cursor<'_, '_>, pair: Pair) {
    let uses = {
        let editor = at.editor();
        uses(editor.module(), editor.function())
    };
    let mut doubled: FxHashMap<Symbol, Doubled> = FxHashMap::default();
    for (stmt, (list, index), symbol) in uses {
        let variable = *doubled.entry(symbol).or_insert_with(|| Doubled::of(at, symbol));
        let replaced = match at.editor().body().operands(list)[index] {
            Operand::SymbolAddress(_, offset) => Operand::RegAddress(variable.base(at, Type::B32, pair), offset),
            Operand::Symbol(_, offset) => {
                let ty = at.editor().view(stmt).and_then(|view| view.form.types().last().copied());
                let is_long = ty.is_some_and(|ty| ty.bits() == 64);
                let (ty, add) = if is_long { (Type::B64, "add.u64") } else { (Type::B32, "add.u32") };
                let base = variable.base(at, ty, pair);
                match offset {
                    0 => base.into(),
                    _ => at.at_entry(add, ty, &[base.into(), i64::from(offset).into()]).into(),
                }
            }
            other => other,
        };
        at.editor().body_mut().operands_mut(list)[index] = replaced;
    }
}

/// A variable that both copies have.
#[derive(Clone, Copy)]
struct Doubled {
    symbol: Symbol,
    /// How far the second copy is from the first; nothing if a launch says it.
    distance: Option<u64>,
}

impl Doubled {
    /// What stands in place of a variable.
    fn of(at: &mut Cursor<'_, '_>, symbol: Symbol) -> Self {
        let editor = at.editor();
        let (module, function) = (editor.module(), editor.function());
        let original = variable(module, function, symbol).expect("it is a variable");
        let Some(bytes) = original.size() else { return Self { symbol, distance: None } };
        let align = original.alignment();
        let distance = bytes.next_multiple_of(align.into());
        let name = format!("{}$$doubled", module.text(original.name));
        let make = |name| Variable::bytes(name, Space::Shared, distance + bytes, align);
        let symbol = match symbol {
            Symbol::Global(_) => {
                let variable = editor.module_mut().variable_named(&name, make);
                Symbol::Global(variable.expect("no function has such a name"))
            }
            _ => {
                let name = editor.module_mut().names.intern(&name);
                Symbol::Var(editor.variable(make(name)))
            }
        };
        Self { symbol, distance: Some(distance) }
    }

    /// The register with the address in the thread's copy.
    fn base(self, at: &mut Cursor<'_, '_>, ty: Type, pair: Pair) -> Reg {
        let is_long = ty == Type::B64;
        let [mov, mul, add] =
            if is_long { ["mov.u64", "mul.lo.u64", "add.u64"] } else { ["mov.u32", "mul.lo.u32", "add.u32"] };
        let mut copy = copies::copy(at, pair);
        if is_long {
            copy = at.at_entry("cvt.u64.u32", Type::B64, &[copy.into()]);
        }
        let distance = match self.distance {
            Some(distance) => Operand::Int(distance as i64),
            None if is_long => at.word(SHARED_DISTANCE).into(),
            None => {
                let word = at.word(SHARED_DISTANCE);
                at.at_entry("cvt.u32.u64", Type::B32, &[word.into()]).into()
            }
        };
        let first = at.at_entry(mov, ty, &[Operand::Symbol(self.symbol, 0)]);
        let offset = at.at_entry(mul, ty, &[copy.into(), distance]);
        at.at_entry(add, ty, &[first.into(), offset.into()])
    }
}

/// Where variables in shared memory are named: the instruction, the list of operands and the place in it.
fn uses(module: &Module, function: &Function) -> Vec<(StmtId, (List, usize), Symbol)> {
    let Some(body) = &function.body else { return Vec::new() };
    let mut uses = Vec::new();
    for stmt in body.iter().filter(|&stmt| body.origin(stmt).tag.is_none()) {
        let mut lists: Vec<List> = body.inst(stmt).map(|inst| inst.operands).into_iter().collect();
        while let Some(list) = lists.pop() {
            for (index, operand) in body.operands(list).iter().enumerate() {
                match *operand {
                    Operand::Symbol(symbol, _) | Operand::SymbolAddress(symbol, _)
                        if variable(module, function, symbol).is_some_and(|of| of.space == Space::Shared) =>
                    {
                        uses.push((stmt, (list, index), symbol));
                    }
                    Operand::Vector(inner)
                    | Operand::VectorPair(inner, _)
                    | Operand::TupleAddress(inner)
                    | Operand::Arguments(inner) => lists.push(inner),
                    _ => {}
                }
            }
        }
    }
    uses
}

fn variable<'m>(module: &'m Module, function: &'m Function, symbol: Symbol) -> Option<&'m Variable> {
    match symbol {
        Symbol::Global(global) => Some(&module.globals[global]),
        Symbol::Var(var) => Some(&function.vars[var]),
        _ => None,
    }
}

/// Whether a function names a variable in shared memory.
pub(super) fn is_used(module: &Module, func: FuncId) -> bool {
    !uses(module, &module.functions[func]).is_empty()
}
