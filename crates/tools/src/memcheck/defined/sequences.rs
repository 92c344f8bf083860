//! The `.param` variables by which functions pass arguments and results to each other, where all who call a function use them
//! as compilers do: a variable is declared, stored to, and passed to one call, with no label and no branch between; a result is
//! loaded right after the call.
//!
//! A parameter that somebody passes in another way, in a register, under a guard, or in a variable that other calls have too,
//! counts as defined, for all of its callers.

use ptx::analysis::CallKind;
use ptx::ir::{FuncId, Function, Operand, Param, Stmt, StmtId, Symbol, Var};
use ptx::ops::{Effect, Op};
use ptx::types::Space;
use ptx::view::{Callee, View};
use rewrite::ProgramView;
use rustc_hash::FxHashMap;

/// A parameter of a function, counted from 1, or its result, which is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Slot {
    pub(super) func: FuncId,
    pub(super) number: usize,
}

/// Whose a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// It is a parameter, or the result, of the function that it is in.
    Own,
    /// The function passes it to a call.
    Passed { declared: StmtId, call: StmtId },
}

/// A variable that stands for a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PassedVariable {
    pub(super) var: Var,
    pub(super) slot: Slot,
    pub(super) role: Role,
    pub(super) bytes: u64,
    pub(super) loads: Vec<StmtId>,
    pub(super) stores: Vec<StmtId>,
}

/// Parameters that have more bytes together are not followed: there is room for 4 KiB, and their shadows need some.
const MOST_BYTES: u64 = 1024;

/// The variables of each function that stand for slots. None if no slot can be followed.
pub(super) fn variables(program: &ProgramView<'_>) -> Option<Vec<(FuncId, Vec<PassedVariable>)>> {
    let (module, calls) = (program.module(), program.calls());
    let callers = || module.functions.iter().filter(|(_, function)| function.body.is_some());
    let is_followable =
        |kind: &CallKind| matches!(*kind, CallKind::Direct(callee) if program.is_copied(calls.resolve(callee)));
    // Most kernels call nothing.
    if !callers().any(|(func, _)| calls.sites(func).iter().any(|site| is_followable(&site.kind))) {
        return None;
    }
    let scans: Vec<(FuncId, Scan)> =
        callers().map(|(func, function)| (func, Scan::of(program, func, function))).collect();
    let mut sizes: FxHashMap<Slot, u64> = FxHashMap::default();
    for (func, scan) in scans.iter().filter(|(func, _)| program.is_copied(*func)) {
        sizes.extend(scan.own_slots(*func, &module.functions[*func]));
    }
    for (func, scan) in &scans {
        for slot in scan.refused_slots(&module.functions[*func], &sizes) {
            sizes.remove(&slot);
        }
    }
    if sizes.is_empty() {
        return None;
    }
    let of_function = |(func, scan): (FuncId, Scan)| (func, scan.variables(func, &module.functions[func], &sizes));
    Some(scans.into_iter().map(of_function).collect())
}

/// A statement, and where it is in the function: there is no label and no branch between two with the same segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    stmt: StmtId,
    segment: u32,
    /// How many statements are before it.
    number: u32,
    /// How many instructions.
    insts: u32,
}

impl Place {
    /// Whether a statement is always executed right before another one, but for such as it.
    fn leads_to(self, later: Self) -> bool {
        self.segment == later.segment && self.number < later.number
    }
}

/// How a function uses a `.param` variable.
#[derive(Default)]
struct Uses {
    declared: Option<Place>,
    loads: Vec<Place>,
    stores: Vec<Place>,
    calls: Vec<(Place, Slot)>,
    /// Whether there is something else, or something that is out of its bounds or under a guard.
    is_odd: bool,
}

/// What a function does with its `.param` variables.
#[derive(Default)]
struct Scan {
    uses: FxHashMap<Var, Uses>,
    /// What it passes in another way.
    refused: Vec<Slot>,
}

impl Scan {
    fn of(program: &ProgramView<'_>, func: FuncId, function: &Function) -> Self {
        let mut scan = Self::default();
        let Some(body) = &function.body else { return scan };
        // Also those that it does not use.
        for (_, param) in own(function) {
            if let Param::Var(var) = param {
                scan.uses.entry(var).or_default();
            }
        }
        let (mut segment, mut insts, mut is_odd) = (0, 0, false);
        for (number, stmt) in body.iter().enumerate() {
            let place = Place { stmt, segment, number: number as u32, insts };
            match body.stmt(stmt) {
                Stmt::Label(_) => segment += 1,
                Stmt::Unknown(_) => is_odd = true,
                Stmt::Var(var) if function.vars[*var].space == Space::Param => {
                    scan.uses.entry(*var).or_default().declared = Some(place);
                }
                _ => {}
            }
            let Some(view) = View::of(&program.module().forms, body, stmt) else { continue };
            insts += 1;
            if view.callee().is_some() {
                scan.call(program, function, &view, place);
            } else {
                scan.inst(function, &view, place);
            }
            if matches!(view.effect(), None | Some(Effect::Branch | Effect::Return | Effect::Exit | Effect::Trap)) {
                segment += 1;
            }
        }
        if is_odd {
            scan.uses.values_mut().for_each(|uses| uses.is_odd = true);
            for site in program.calls().sites(func) {
                if let CallKind::Direct(callee) = site.kind {
                    let callee = program.calls().resolve(callee);
                    scan.refused.extend(slots(callee, &program.module().functions[callee]));
                }
            }
        }
        scan
    }

    /// A call, whose arguments and results are in lists.
    fn call(&mut self, program: &ProgramView<'_>, function: &Function, view: &View<'_>, place: Place) {
        let Some(Callee::Direct(callee)) = view.callee() else { return self.odd(function, view) };
        let callee = program.calls().resolve(callee);
        let of_callee = &program.module().functions[callee];
        let (mut results, mut arguments) = (&[][..], &[][..]);
        for (index, operand) in view.operands().iter().enumerate() {
            if let Operand::Arguments(list) = *operand {
                *(if index == 0 { &mut results } else { &mut arguments }) = view.body.operands(list);
            }
        }
        let is_regular = view.inst.guard.is_none()
            && results.len() == of_callee.returns.len()
            && arguments.len() == of_callee.params.len();
        if !is_regular {
            self.refused.extend(slots(callee, of_callee));
            return self.odd(function, view);
        }
        let arguments = arguments.iter().enumerate().map(|(index, operand)| (index + 1, operand));
        for (number, operand) in results.iter().map(|operand| (0, operand)).chain(arguments) {
            let slot = Slot { func: callee, number };
            match *operand {
                Operand::Symbol(Symbol::Var(var), 0) => {
                    self.uses.entry(var).or_default().calls.push((place, slot));
                }
                _ => self.refused.push(slot),
            }
        }
    }

    fn inst(&mut self, function: &Function, view: &View<'_>, place: Place) {
        let (address, is_load) = match (view.op(), view.operands()) {
            (Some(Op::Ld), [_, address]) => (*address, true),
            (Some(Op::St), [address, _]) => (*address, false),
            _ => return self.odd(function, view),
        };
        let Operand::SymbolAddress(Symbol::Var(var), offset) = address else { return self.odd(function, view) };
        let variable = &function.vars[var];
        if variable.space != Space::Param {
            return self.odd(function, view);
        }
        let bytes = view.form.types().last().map_or(0, |ty| u64::from(ty.bytes()));
        let elements = match view.operands()[usize::from(!is_load)] {
            Operand::Vector(list) => list.len() as u64,
            _ => 1,
        };
        let uses = self.uses.entry(var).or_default();
        let end = u64::try_from(offset).ok().map(|offset| offset + bytes * elements);
        uses.is_odd |= bytes == 0
            || end.zip(variable.size()).is_none_or(|(end, size)| end > size)
            || view.inst.guard.is_some()
            || !view.form.spaces().any(|space| space == Space::Param);
        if is_load { &mut uses.loads } else { &mut uses.stores }.push(place);
    }

    /// What an instruction names is used in a way that is not followed.
    fn odd(&mut self, function: &Function, view: &View<'_>) {
        view.body.for_each_operand(view.inst.operands, &mut |operand| {
            if let Operand::Symbol(Symbol::Var(var), _)
            | Operand::SymbolAddress(Symbol::Var(var), _)
            | Operand::Element(Symbol::Var(var), _) = operand
                && function.vars[var].space == Space::Param
            {
                self.uses.entry(var).or_default().is_odd = true;
            }
        });
    }

    /// The parameters and the result of the function that it uses as compilers do, and their sizes.
    fn own_slots(&self, func: FuncId, function: &Function) -> Vec<(Slot, u64)> {
        let size = |param: &Param| match *param {
            Param::Var(var) => function.vars[var].size().filter(|_| function.vars[var].space == Space::Param),
            Param::Reg(_) => None,
        };
        let total: u64 = function.params.iter().filter_map(size).sum();
        let mut found = Vec::new();
        for (number, param) in own(function) {
            let (Param::Var(var), Some(bytes)) = (param, size(&param)) else { continue };
            let Some(uses) = self.uses.get(&var) else { continue };
            let is_only = if number == 0 { uses.loads.is_empty() } else { uses.stores.is_empty() };
            let is_small = (1..=MOST_BYTES).contains(&if number == 0 { bytes } else { total });
            if is_only && is_small && !uses.is_odd && uses.calls.is_empty() {
                found.push((Slot { func, number }, bytes));
            }
        }
        found
    }

    /// What the function passes in another way than those who declare it expect.
    fn refused_slots(&self, function: &Function, sizes: &FxHashMap<Slot, u64>) -> Vec<Slot> {
        let mut refused = self.refused.clone();
        for (&var, uses) in &self.uses {
            for &(_, slot) in &uses.calls {
                let is_same_size = function.vars[var].size() == sizes.get(&slot).copied();
                if !is_same_size || uses.passed(slot).is_none() {
                    refused.push(slot);
                }
            }
        }
        refused
    }

    /// The variables that stand for slots.
    fn variables(self, func: FuncId, function: &Function, slots: &FxHashMap<Slot, u64>) -> Vec<PassedVariable> {
        let of_own: FxHashMap<Var, Slot> = own(function)
            .filter_map(|(number, param)| match param {
                Param::Var(var) => Some((var, Slot { func, number })),
                Param::Reg(_) => None,
            })
            .collect();
        let mut found = Vec::new();
        for (var, uses) in self.uses {
            let (slot, role) = match (of_own.get(&var), &uses.calls[..]) {
                (Some(&slot), _) => (slot, Role::Own),
                (None, &[(_, slot)]) => match uses.passed(slot) {
                    Some(role) => (slot, role),
                    None => continue,
                },
                _ => continue,
            };
            let Some(&bytes) = slots.get(&slot) else { continue };
            let stmts = |places: &[Place]| places.iter().map(|place| place.stmt).collect();
            let (loads, stores) = (stmts(&uses.loads), stmts(&uses.stores));
            found.push(PassedVariable { var, slot, role, bytes, loads, stores });
        }
        found.sort_unstable_by_key(|variable| variable.var);
        found
    }
}

impl Uses {
    /// As what it is passed, if that is to one call, and in the way of compilers.
    fn passed(&self, slot: Slot) -> Option<Role> {
        let (declared, &[(call, _)]) = (self.declared?, &self.calls[..]) else { return None };
        let is_passed = match slot.number {
            // Between a call and these loads, vector code cannot go over to single threads: they would not have the result.
            0 => {
                self.stores.is_empty() && (call.insts + 1..).zip(&self.loads).all(|(number, load)| number == load.insts)
            }
            _ => {
                let is_between = |store: &Place| declared.leads_to(*store) && store.leads_to(call);
                self.loads.is_empty() && self.stores.iter().all(is_between)
            }
        };
        let role = Role::Passed { declared: declared.stmt, call: call.stmt };
        (is_passed && !self.is_odd && declared.leads_to(call)).then_some(role)
    }
}

/// The result of a function, if it has one, and its parameters, with their numbers.
fn own(function: &Function) -> impl Iterator<Item = (usize, Param)> {
    let result = if function.returns.len() == 1 { &function.returns[..] } else { &[] };
    let params = function.params.iter().enumerate().map(|(index, param)| (index + 1, *param));
    result.iter().map(|param| (0, *param)).chain(params)
}

fn slots(func: FuncId, function: &Function) -> impl Iterator<Item = Slot> {
    (0..=function.params.len()).map(move |number| Slot { func, number })
}
