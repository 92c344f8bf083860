//! Arguments and results of functions that are called by name, and their shadows.
//!
//! A parameter that may be undefined has its shadow behind it: it becomes an array of bytes twice as large, in the function and
//! in the variables of those who call it, which [compilers use in one way](super::sequences). So shadows go wherever values go,
//! through recursion, and for each member of a struct. Which parameters may be undefined is found for all functions of the
//! module together; all others stay what they are, and nothing is inserted for them.
//!
//! Behind the shadow of the first such parameter, and of a result, is where the thread last loaded something undefined.

use ptx::edit::Point;
use ptx::ir::{FuncId, Guard, Module, Operand, Reg, StmtId, Symbol, Var};
use ptx::types::Type;
use ptx::view::View;
use rewrite::{Definition, ProgramView};
use rustc_hash::{FxHashMap, FxHashSet};

use super::memory::vector;
use super::sequences::{self, PassedVariable, Role, Slot};
use super::{local, may_be_undefined};
use crate::memcheck::local_variables;
use crate::memcheck::shadows::{Compute, DEFINED, Layout, is_defined};
use crate::memcheck::version::Follows;

/// What is passed between the functions of a module, and may be undefined.
#[derive(Debug)]
pub(in super::super) struct Passing {
    /// If shared and local memory are followed.
    shared: FxHashMap<FuncId, Plan>,
    /// If all memory is.
    all: FxHashMap<FuncId, Plan>,
}

/// What a function is passed and passes that may be undefined.
#[derive(Debug)]
pub(super) struct Plan(Vec<(PassedVariable, Layout)>);

impl Passing {
    /// Of a module. None if nothing is passed in ways that are followed.
    pub(in super::super) fn of(program: &ProgramView<'_>) -> Option<Self> {
        let functions: Vec<Followed> =
            sequences::variables(program)?.into_iter().map(|found| Followed::of(program.module(), found)).collect();
        let [shared, all] = [Follows::Shared, Follows::All].map(|follows| {
            let undefined = undefined_slots(program.module(), &functions, follows);
            functions.iter().filter_map(|function| Some((function.func, function.plan(&undefined)?))).collect()
        });
        Some(Self { shared, all })
    }

    /// Of a function, in a version of the kernel.
    pub(super) fn plan(&self, func: FuncId, follows: Follows) -> Option<&Plan> {
        match follows {
            Follows::Nothing => None,
            Follows::Shared => self.shared.get(&func),
            Follows::All => self.all.get(&func),
        }
    }
}

/// A function, and what may be undefined in it by itself.
struct Followed {
    func: FuncId,
    variables: Vec<PassedVariable>,
    local_loads: FxHashSet<StmtId>,
}

impl Followed {
    fn of(module: &Module, (func, variables): (FuncId, Vec<PassedVariable>)) -> Self {
        let function = &module.functions[func];
        let local_loads = local::loads(module, function, &local_variables::variables(module, function));
        Self { func, variables, local_loads }
    }

    /// The variables that it stores to, of which nothing is known until now, and that may be undefined.
    fn stored(&self, module: &Module, follows: Follows, undefined: &FxHashSet<Slot>) -> Vec<Slot> {
        let mut loads = self.local_loads.clone();
        for variable in self.variables.iter().filter(|variable| undefined.contains(&variable.slot)) {
            loads.extend(variable.loads.iter().copied());
        }
        let function = &module.functions[self.func];
        let regs = may_be_undefined::registers(module, function, follows, &loads);
        let is_undefined = |stmt: &StmtId| {
            let view = function.body.as_ref().and_then(|body| View::of(&module.forms, body, *stmt));
            let mut is_undefined = false;
            view.inspect(|view| view.for_each_read(|reg| is_undefined |= regs.contains(&reg)));
            is_undefined
        };
        let stored = |variable: &&PassedVariable| {
            !undefined.contains(&variable.slot) && variable.stores.iter().any(is_undefined)
        };
        self.variables.iter().filter(stored).map(|variable| variable.slot).collect()
    }

    fn plan(&self, undefined: &FxHashSet<Slot>) -> Option<Plan> {
        let layout = |variable: &PassedVariable| {
            let Slot { func, number } = variable.slot;
            let is_first = |number: usize| (1..number).all(|number| !undefined.contains(&Slot { func, number }));
            let has_origin = number == 0 || is_first(number);
            Layout {
                bytes: variable.bytes,
                has_origin,
                is_result: number == 0,
                last_load: variable.loads.last().copied(),
            }
        };
        let variables = self.variables.iter().filter(|variable| undefined.contains(&variable.slot));
        let found: Vec<_> = variables.map(|variable| (variable.clone(), layout(variable))).collect();
        (!found.is_empty()).then_some(Plan(found))
    }
}

/// The parameters and results of which some caller or function passes what may be undefined.
fn undefined_slots(module: &Module, functions: &[Followed], follows: Follows) -> FxHashSet<Slot> {
    let mut readers: FxHashMap<Slot, Vec<usize>> = FxHashMap::default();
    for (index, function) in functions.iter().enumerate() {
        for variable in function.variables.iter().filter(|variable| !variable.loads.is_empty()) {
            readers.entry(variable.slot).or_default().push(index);
        }
    }
    let mut undefined = FxHashSet::default();
    let mut waiting: Vec<usize> = (0..functions.len()).collect();
    let mut is_waiting = vec![true; functions.len()];
    while let Some(index) = waiting.pop() {
        is_waiting[index] = false;
        for slot in functions[index].stored(module, follows, &undefined) {
            undefined.insert(slot);
            for &reader in readers.get(&slot).into_iter().flatten() {
                if !std::mem::replace(&mut is_waiting[reader], true) {
                    waiting.push(reader);
                }
            }
        }
    }
    undefined
}

impl Plan {
    /// The loads of what may be undefined.
    pub(super) fn loads(&self) -> impl Iterator<Item = StmtId> {
        self.0.iter().flat_map(|(variable, _)| variable.loads.iter().copied())
    }
}

impl Compute<'_, '_, '_> {
    /// A function begins: its parameters, and the variables that it passes, get their shadows.
    pub(super) fn pass(&mut self, plan: &Plan) {
        for (variable, layout) in &plan.0 {
            let &PassedVariable { var, role, .. } = variable;
            let align = self.at.editor().function().vars[var].alignment().max(8);
            self.at.editor().make_bytes(var, layout.total(), align);
            self.shadows.passed.extend(variable.loads.iter().map(|stmt| (*stmt, *layout)));
            let origin = Operand::SymbolAddress(Symbol::Var(var), layout.origin() as i32);
            match role {
                Role::Own if layout.is_result => {
                    // Whoever returns before it says what comes of it leaves it as it is.
                    let first = Point::Before(self.at.statement());
                    self.define_passed(first, var, *layout);
                }
                Role::Own => {
                    if let (true, Some(to)) = (layout.has_origin, self.shadows.origin) {
                        self.at.before().inst("ld.param.b64", &[to.into(), origin]);
                    }
                }
                Role::Passed { .. } if layout.is_result => {}
                Role::Passed { declared, call } => {
                    if !self.is_whole(variable) {
                        self.define_passed(Point::After(declared), var, *layout);
                    }
                    if layout.has_origin {
                        let from = self.shadows.origin.map_or_else(|| self.zero(64), Operand::Reg);
                        self.at.elsewhere(Point::Before(call)).inst("st.param.b64", &[origin, from]);
                    }
                }
            }
            for &stmt in &variable.stores {
                self.store_passed(stmt, var, *layout);
            }
        }
    }

    /// Whether one store writes all of a variable.
    fn is_whole(&mut self, variable: &PassedVariable) -> bool {
        let &[store] = &variable.stores[..] else { return false };
        self.elements(store, 1)
            .is_some_and(|(ty, elements)| u64::from(ty.bytes()) * elements.len() as u64 == variable.bytes)
    }

    /// What nobody stores to a variable counts as defined.
    fn define_passed(&mut self, at: Point, var: Var, layout: Layout) {
        let bytes = layout.shadow().min(8);
        let mut offsets: Vec<(u64, u64)> =
            (0..layout.bytes).step_by(bytes as usize).map(|first| (layout.shadow() + first, bytes)).collect();
        if layout.has_origin {
            offsets.push((layout.origin(), 8));
        }
        for (offset, bytes) in offsets {
            let to = Operand::SymbolAddress(Symbol::Var(var), offset as i32);
            self.at.elsewhere(at).inst(&format!("st.param.b{}", bytes * 8), &[to, 0.into()]);
        }
    }

    /// Stores the shadow of what is stored to a variable.
    fn store_passed(&mut self, stmt: StmtId, var: Var, layout: Layout) {
        let Some((ty, elements)) = self.elements(stmt, 1) else { return };
        let Some(&Operand::SymbolAddress(_, offset)) =
            self.at.editor().view(stmt).and_then(|view| view.operands().first())
        else {
            return;
        };
        let to = |first: u64| Operand::SymbolAddress(Symbol::Var(var), offset + (layout.shadow() + first) as i32);
        if ty.bits() == 128 {
            for word in 0..2 * elements.len() as u64 {
                self.at.elsewhere(Point::Before(stmt)).inst("st.param.b64", &[to(word * 8), 0.into()]);
            }
            return;
        }
        let mut is_any = false;
        let mut stored = Vec::new();
        for element in elements {
            let shadow = self.of(element);
            let bits = element.as_reg().map_or(ty.bits(), |reg| self.bits(reg)).max(16);
            is_any |= !is_defined(shadow);
            stored.push(if is_defined(shadow) { self.zero(bits) } else { shadow });
        }
        let spelling = format!("st.param{}.u{}", vector(stored.len()), ty.bits().max(8));
        let origin = self.shadows.origin.filter(|_| is_any && layout.is_result);
        let mut builder = self.at.elsewhere(Point::Before(stmt));
        let from = if stored.len() == 1 { stored[0] } else { builder.vector(&stored) };
        builder.inst(&spelling, &[to(0), from]);
        if let Some(origin) = origin {
            let to = Operand::SymbolAddress(Symbol::Var(var), layout.origin() as i32);
            builder.inst("st.param.b64", &[to, origin.into()]);
        }
    }

    /// Loads the shadow of a parameter, or of a part of a result.
    pub(super) fn load_passed(&mut self, definition: &Definition, layout: Layout) {
        let Some(&Operand::SymbolAddress(symbol, offset)) =
            self.at.editor().view(definition.stmt).and_then(|view| view.operands().get(1))
        else {
            return;
        };
        let from = Operand::SymbolAddress(symbol, offset + layout.shadow() as i32);
        if definition.regs.iter().any(|reg| self.shadows.of.contains_key(reg)) {
            let parts = self.load_parts(definition.stmt, ".param", from, None);
            self.shadows.result.extend(parts);
        }
        match layout.is_result {
            false => self.take_passed(|_, _, part| part.into()),
            true if layout.last_load == Some(definition.stmt) => self.result_came(symbol, layout),
            true => {}
        }
    }

    /// All of a result was loaded. In a kernel, that it is defined is speculated on, as with what it loads from memory.
    fn result_came(&mut self, symbol: Symbol, layout: Layout) {
        let Some(origin) = self.shadows.origin else { return };
        let came = self.at.reg(Type::B64);
        self.at.before().inst("ld.param.b64", &[came.into(), Operand::SymbolAddress(symbol, layout.origin() as i32)]);
        assert!(self.at.go_behind(), "a function goes on after it has loaded a result");
        let mut any = DEFINED;
        for (_, bits, part) in self.shadows.result.clone() {
            let of_part = self.any32(bits, part.into());
            any = self.or(32, any, of_part);
        }
        if is_defined(any) {
            return;
        }
        let bad = self.at.reg(Type::Pred);
        self.at.before().inst("setp.ne.b32", &[bad.into(), any, 0.into()]);
        self.at.before().guarded(Guard::when(bad), "mov.b64", &[origin.into(), came.into()]);
        match self.at.is_kernel() {
            true => self.take_passed(|compute, bits, part| compute.if_bad(bits, part, bad)),
            false => self.take_passed(|_, _, part| part.into()),
        }
    }

    /// Gives the registers their shadows that were loaded.
    fn take_passed(&mut self, mut shadow: impl FnMut(&mut Self, u32, Reg) -> Operand) {
        for (reg, bits, part) in std::mem::take(&mut self.shadows.result) {
            let Some(reg) = reg else { continue };
            let shadow = shadow(self, bits, part);
            self.set(reg, shadow, None);
        }
    }
}
