//! What the results of instructions reach: branches, addresses and synchronisation.
//!
//! **Backwards, with a few bits for each register**: what a register reaches is what the registers reach that are computed from
//! it, and where it is used itself. One pass answers for all instructions of a kernel, in time linear in its length.
//!
//! **Through memory, perhaps**: what is stored may be loaded again, by any load of the kernel in the same state space; of other
//! kernels and the host it is only known that they can. Calls by name are followed, through their parameters; of others it is
//! said that they may do anything with their arguments.
//!
//! The analysis is one of registers, not of places in the text, as that of [pointers](ptx::analysis::Provenance) is. What is
//! assigned where a branch decided is not said to depend on the branch: that the branch depends on an approximation is said.

use ptx::ir::{Body, FuncId, Function, Module, Operand, OriginId, Param, Reg, Symbol, Var};
use ptx::ops::Effect;
use ptx::synchronisation::Synchronisation;
use ptx::types::Space;
use ptx::view::{AccessKind, AccessSpace, Callee, View};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a value reaches: a set.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Reach(u8);

impl Reach {
    /// A branch or guard depends on it.
    pub(super) const CONTROL: Self = Self(1);
    /// An address depends on it.
    pub(super) const ADDRESS: Self = Self(1 << 1);
    /// The lanes or threads depend on it that wait for each other.
    pub(super) const SYNCHRONISATION: Self = Self(1 << 2);
    const ALL: Self = Self(7);
    /// The same three, through memory.
    const MAY: u32 = 3;
    /// It is stored in global memory, where other kernels and the host find it.
    const STORED: Self = Self(1 << 6);

    /// Whether it is stored in global memory.
    pub(super) fn is_stored(self) -> bool {
        self.0 & Self::STORED.0 != 0
    }

    /// "yes", "may" or "no".
    pub(super) fn answer(self, what: Self) -> &'static str {
        if self.0 & what.0 != 0 {
            "yes"
        } else if self.0 & what.0 << Self::MAY != 0 {
            "may"
        } else {
            "no"
        }
    }

    /// What is reached if the value comes out of memory again.
    fn perhaps(self) -> Self {
        let both = (self.0 | self.0 >> Self::MAY) & Self::ALL.0;
        Self(both << Self::MAY | self.0 & Self::STORED.0)
    }
}

impl std::ops::BitOr for Reach {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A value that flows: a register, a variable that is passed to a call, or all of a kind of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Reg(FuncId, Reg),
    Param(FuncId, Var),
    Memory(Memory),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Memory {
    Global,
    Shared,
    Local,
}

/// The flow of values in a kernel and the functions that it calls by name.
#[derive(Debug, Default)]
struct Flow {
    numbers: FxHashMap<Node, u32>,
    reach: Vec<Reach>,
    /// From which values a value is computed, and whether that goes out of memory.
    sources: Vec<Vec<(u32, bool)>>,
}

/// What the results of all instructions of a kernel reach, by the ids of their originals.
pub(super) fn of_kernel(module: &Module, kernel: FuncId) -> FxHashMap<OriginId, Reach> {
    let mut flow = Flow::default();
    let (mut open, mut seen) = (vec![kernel], FxHashSet::from_iter([kernel]));
    let mut results: Vec<(OriginId, Vec<u32>)> = Vec::new();
    while let Some(func) = open.pop() {
        let function = &module.functions[func];
        let Some(body) = &function.body else { continue };
        for id in body.iter() {
            let Some(view) = View::of(&module.forms, body, id) else { continue };
            let written = flow.instruction(module, func, &view);
            results.push((body.origin(id).id, written));
            if let Some(Callee::Direct(callee)) = view.callee()
                && seen.insert(callee)
            {
                open.push(callee);
            }
        }
    }
    flow.settle();
    let mut reached = FxHashMap::<OriginId, Reach>::default();
    for (origin, written) in results {
        let entry = reached.entry(origin).or_default();
        *entry = written.iter().fold(*entry, |all, &node| all | flow.reach[node as usize]);
    }
    reached
}

impl Flow {
    fn node(&mut self, node: Node) -> u32 {
        let next = self.reach.len() as u32;
        *self.numbers.entry(node).or_insert_with(|| {
            self.reach.push(Reach::default());
            self.sources.push(Vec::new());
            next
        })
    }

    fn mark(&mut self, func: FuncId, reg: Reg, what: Reach) {
        let node = self.node(Node::Reg(func, reg)) as usize;
        self.reach[node] = self.reach[node] | what;
    }

    fn edge(&mut self, from: u32, to: u32, is_out_of_memory: bool) {
        self.sources[to as usize].push((from, is_out_of_memory));
    }

    /// Takes an instruction into account; the values that it gives.
    fn instruction(&mut self, module: &Module, func: FuncId, view: &View<'_>) -> Vec<u32> {
        let mut written: Vec<u32> = Vec::new();
        view.for_each_write(|reg| written.push(self.node(Node::Reg(func, reg))));
        let mut read: Vec<u32> = Vec::new();
        view.for_each_read(|reg| read.push(self.node(Node::Reg(func, reg))));
        for &to in &written {
            for &from in &read {
                self.edge(from, to, false);
            }
        }
        if let Some(guard) = view.inst.guard {
            self.mark(func, guard.reg, Reach::CONTROL);
        }
        match view.effect() {
            Some(Effect::Branch) => view.for_each_read(|reg| self.mark(func, reg, Reach::CONTROL)),
            Some(Effect::Call) => self.call(module, func, view),
            // Unknown instructions may do anything.
            None => view.for_each_read(|reg| self.mark(func, reg, Reach::ALL.perhaps())),
            _ => {}
        }
        self.synchronisation(func, view);
        for access in view.accesses() {
            let operand = view.operands()[access.address];
            for_each_reg(view.body, &operand, &mut |reg| self.mark(func, reg, Reach::ADDRESS));
            let memory = self.memory(func, access.space, &operand);
            if access.kind != AccessKind::Write {
                let is_out_of_memory = !matches!(access.space, AccessSpace::State(Space::Param));
                for (&from, &to) in memory.iter().flat_map(|from| written.iter().map(move |to| (from, to))) {
                    self.edge(from, to, is_out_of_memory);
                }
            }
            if access.kind != AccessKind::Read {
                for &to in &memory {
                    if self.numbers.get(&Node::Memory(Memory::Global)) == Some(&to) {
                        self.reach[to as usize] = self.reach[to as usize] | Reach::STORED;
                    }
                    for &from in &read {
                        self.edge(from, to, false);
                    }
                    // What an atomic operation leaves is a result of it.
                    if access.kind == AccessKind::ReadWrite {
                        written.push(to);
                    }
                }
            }
        }
        written
    }

    fn synchronisation(&mut self, func: FuncId, view: &View<'_>) {
        let operands = match view.synchronisation() {
            Some(Synchronisation::Barrier { id, count, .. }) => [Some(id), count],
            Some(Synchronisation::WarpBarrier { mask }) => [Some(mask), None],
            Some(Synchronisation::Collective { mask }) => [mask, None],
            Some(Synchronisation::WaitForCopies { pending }) => [pending, None],
            Some(Synchronisation::WaitForBulkCopies { pending, .. }) => [Some(pending), None],
            Some(Synchronisation::Mbarrier) => {
                view.for_each_read(|reg| self.mark(func, reg, Reach::SYNCHRONISATION));
                return;
            }
            _ => return,
        };
        for operand in operands.into_iter().flatten() {
            for_each_reg(view.body, &operand, &mut |reg| self.mark(func, reg, Reach::SYNCHRONISATION));
        }
    }

    /// Where an access goes.
    fn memory(&mut self, func: FuncId, space: AccessSpace, address: &Operand) -> Vec<u32> {
        let nodes: &[Memory] = match space {
            AccessSpace::State(Space::Param) => {
                return match *address {
                    Operand::SymbolAddress(Symbol::Var(var), _) => vec![self.node(Node::Param(func, var))],
                    _ => vec![self.node(Node::Memory(Memory::Local))],
                };
            }
            AccessSpace::State(Space::Shared) => &[Memory::Shared],
            AccessSpace::State(Space::Local) => &[Memory::Local],
            AccessSpace::State(Space::Const) => &[],
            AccessSpace::Generic => &[Memory::Global, Memory::Shared, Memory::Local],
            _ => &[Memory::Global],
        };
        nodes.iter().map(|&memory| self.node(Node::Memory(memory))).collect()
    }

    fn call(&mut self, module: &Module, func: FuncId, view: &View<'_>) {
        let callee = match view.callee() {
            Some(Callee::Direct(callee)) => Some(callee),
            Some(Callee::Indirect(reg)) => {
                self.mark(func, reg, Reach::CONTROL);
                None
            }
            _ => None,
        };
        let signature = callee.map(|callee| (callee, &module.functions[callee]));
        let is_known = signature.is_some_and(|(_, function)| function.body.is_some());
        let mut is_after_callee = false;
        for operand in view.operands() {
            let Operand::Arguments(list) = *operand else {
                is_after_callee = true;
                continue;
            };
            for (index, passed) in view.body.operands(list).iter().enumerate() {
                let Some(here) = self.passed(func, passed) else { continue };
                let params = |function: &Function| {
                    let params = if is_after_callee { &function.params } else { &function.returns };
                    params.get(index).copied()
                };
                let there = signature
                    .filter(|_| is_known)
                    .and_then(|(callee, function)| Some(self.param(callee, function, params(function)?)));
                match there {
                    Some(nodes) => {
                        for node in nodes {
                            let (from, to) = if is_after_callee { (here, node) } else { (node, here) };
                            self.edge(from, to, false);
                        }
                    }
                    None if is_after_callee => {
                        self.reach[here as usize] = self.reach[here as usize] | Reach::ALL.perhaps();
                    }
                    None => {}
                }
            }
        }
    }

    /// What a call passes.
    fn passed(&mut self, func: FuncId, operand: &Operand) -> Option<u32> {
        match *operand {
            Operand::Reg(reg) => Some(self.node(Node::Reg(func, reg))),
            Operand::Symbol(Symbol::Var(var), _) => Some(self.node(Node::Param(func, var))),
            _ => None,
        }
    }

    /// A parameter of a function that is called.
    fn param(&mut self, func: FuncId, function: &Function, param: Param) -> Vec<u32> {
        match param {
            Param::Var(var) => vec![self.node(Node::Param(func, var))],
            Param::Reg(group) => {
                let regs = function.regs.iter().filter(|(_, info)| info.group == group).map(|(reg, _)| reg);
                regs.map(|reg| self.node(Node::Reg(func, reg))).collect()
            }
        }
    }

    /// Hands what values reach to what they are computed from, until nothing changes: each value changes a few times at most.
    fn settle(&mut self) {
        let mut open: Vec<u32> = (0..self.reach.len() as u32).collect();
        let mut is_open = vec![true; open.len()];
        while let Some(node) = open.pop() {
            is_open[node as usize] = false;
            let reach = self.reach[node as usize];
            for &(from, is_out_of_memory) in &self.sources[node as usize] {
                let old = self.reach[from as usize];
                let new = old | if is_out_of_memory { reach.perhaps() } else { reach };
                self.reach[from as usize] = new;
                if new != old && !std::mem::replace(&mut is_open[from as usize], true) {
                    open.push(from);
                }
            }
        }
    }
}

/// All registers of an operand.
fn for_each_reg(body: &Body, operand: &Operand, each: &mut impl FnMut(Reg)) {
    match *operand {
        Operand::Reg(reg) | Operand::Not(reg) | Operand::Neg(reg) | Operand::Part(reg, _) => each(reg),
        Operand::RegAddress(reg, _) => each(reg),
        Operand::Vector(list) | Operand::TupleAddress(list) => {
            // Lists are not nested deeper than a tuple with a vector.
            for inner in body.operands(list) {
                match *inner {
                    Operand::Vector(list) => body.operands(list).iter().for_each(|one| {
                        if let Operand::Reg(reg) = *one {
                            each(reg);
                        }
                    }),
                    Operand::Reg(reg) | Operand::RegAddress(reg, _) => each(reg),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 out) twice(.param .b32 in) {
    .reg .f32 %f<3>;
    ld.param.f32 %f1, [in];
    add.f32 %f2, %f1, %f1;
    st.param.f32 [out], %f2;
    ret;
}
.visible .entry k(.param .u64 p) {
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .f32 %f<20>;
    .reg .b64 %d<8>;
    .shared .f32 s;
    ld.param.u64 %d1, [p];
    sin.approx.f32 %f1, 0f3F800000;        // a branch
    setp.gt.f32 %p1, %f1, 0f00000000;
    @%p1 bra END;
    cos.approx.f32 %f2, 0f3F800000;        // an address
    cvt.rzi.s64.f32 %d2, %f2;
    add.u64 %d3, %d1, %d2;
    ld.global.f32 %f3, [%d3];
    ex2.approx.f32 %f4, 0f3F800000;        // a mask
    cvt.rzi.u32.f32 %r1, %f4;
    shfl.sync.idx.b32 %r2, 7, 0, 31, %r1;
    lg2.approx.f32 %f5, 0f3F800000;        // shared memory, and from there a guard
    st.shared.f32 [s], %f5;
    ld.shared.f32 %f6, [s];
    setp.gt.f32 %p2, %f6, 0f00000000;
    @%p2 mov.u32 %r3, 1;
    rcp.approx.f32 %f7, 0f3F800000;        // global memory alone
    st.global.f32 [%d1], %f7;
    tanh.approx.f32 %f8, 0f3F800000;       // a branch, through a call
    .param .b32 a;
    .param .b32 b;
    st.param.f32 [a], %f8;
    call (b), twice, (a);
    ld.param.f32 %f9, [b];
    setp.gt.f32 %p3, %f9, 0f00000000;
    @%p3 bra END;
    sqrt.approx.f32 %f10, 0f3F800000;      // nothing
    red.global.add.f32 [%d1], 0f3F800000;  // global memory
END:
    ret;
}";

    /// What the result of the instruction reaches, in three words, and whether it is stored.
    fn reached(opcode: &str) -> String {
        let module = ptx::parse(CODE).module;
        let find = |name: &str| module.functions.iter().find(|(_, function)| module.text(function.name) == name);
        let (kernel, function) = find("k").expect("it is there");
        let body = function.body.as_ref().expect("it has a body");
        let reach = of_kernel(&module, kernel);
        let is_it = |inst: &ptx::ir::Inst| module.forms[inst.form].spelling().starts_with(opcode);
        let (id, _) = body.insts().find(|(_, inst)| is_it(inst)).expect("it is there");
        let reach = reach[&body.origin(id).id];
        let answers = [Reach::CONTROL, Reach::ADDRESS, Reach::SYNCHRONISATION].map(|what| reach.answer(what));
        format!("{}{}", answers.join(" "), if reach.is_stored() { ", stored" } else { "" })
    }

    #[test]
    fn results_reach_what_is_computed_from_them() {
        assert_eq!(reached("sin"), "yes no no");
        assert_eq!(reached("cos"), "no yes no");
        assert_eq!(reached("ex2"), "no no yes");
        assert_eq!(reached("lg2"), "may no no");
        assert_eq!(reached("tanh"), "yes no no");
        assert_eq!(reached("sqrt"), "no no no");
    }

    /// The kernel loads from global memory, but nothing depends on what it loads.
    #[test]
    fn what_is_stored_leaves_the_kernel() {
        assert_eq!(reached("rcp"), "no no no, stored");
        assert_eq!(reached("red"), "no no no, stored");
    }
}
