//! Places that threads test and set: `if (levels[n] < 0) levels[n] = level + 1;`.
//!
//! All threads set by the same test, and to the same value, so that it makes no difference which of them comes first, and none
//! whether the others find the place set already: they do nothing else than to set it again. Such a read and write stand in no
//! order among each other, as reductions do.
//!
//! Nor does it matter to a thread that only compares the place with something whether that is before or after, if the comparison
//! gives the same for both values. Whether it does is seen when the place is set (`check.rs`); else that is a write like others.
//!
//! What is compared with, and what is set, is the same in all threads of a launch if it is computed from parameters only.
//! Objects that a kernel reads in other ways, too, are left to the usual check: these reads would be late more often.

use ptx::analysis::{Block, Cfg, DefUse, DominatorTree, EdgeKind, Liveness, PointerValue, Provenance, Root};
use ptx::ir::{Body, FuncId, Function, Module, Operand, Reg, StmtId};
use ptx::ops::{Effect, Op};
use ptx::types::Space;
use ptx::view::{AccessBytes, AccessKind, AccessSpace, MemAccess, Order, View};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::racecheck::prune::Pruned;

/// The accesses of a kernel that test and set.
#[derive(Clone, Debug)]
pub(super) struct TestAndSet {
    parts: FxHashMap<StmtId, Part>,
    /// What places are compared with, besides where they are set.
    pub(super) comparisons: Vec<Comparison>,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// Reads a place that it may set.
    Read,
    Set,
    /// Compares a place.
    Test,
}

/// A comparison of a place with what is the same in all threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Comparison {
    /// The instruction.
    pub(super) spelling: String,
    pub(super) with: Operand,
}

/// More comparisons than this are not made where a place is set.
const MOST_COMPARISONS: usize = 4;
/// Values that take more instructions than this are not looked at.
const MOST_STEPS: u32 = 8;

impl TestAndSet {
    /// Nothing if a kernel has none, or not all of its sets do the same.
    pub(super) fn of(module: &Module, kernel: FuncId, pruned: &Pruned) -> Option<Self> {
        let function = &module.functions[kernel];
        let body = function.body.as_ref()?;
        let views = || body.iter().filter_map(|id| Some((id, View::of(&module.forms, body, id)?)));
        if !views().any(|(_, view)| view.op() == Some(Op::Setp)) {
            return None;
        }
        let cfg = Cfg::of(&module.forms, function);
        let def_use = DefUse::of(&module.forms, function);
        let search = Search {
            module,
            function,
            body,
            dominators: DominatorTree::dominators(cfg.graph()),
            liveness: Liveness::of(&cfg, &def_use),
            provenance: Provenance::of(module, function),
            cfg,
            def_use,
            pruned,
        };
        search.find(views().map(|(id, _)| id).collect())
    }

    pub(super) fn part(&self, stmt: StmtId) -> Option<Part> {
        self.parts.get(&stmt).copied()
    }
}

struct Search<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
    cfg: Cfg,
    def_use: DefUse,
    dominators: DominatorTree,
    liveness: Liveness,
    provenance: Provenance,
    pruned: &'a Pruned,
}

/// A read of a place, a comparison, and a write if it holds.
struct Set {
    read: StmtId,
    write: StmtId,
    /// What it does, in words: the same for sets that do the same.
    what: String,
    root: Root,
}

impl<'a> Search<'a> {
    fn find(&self, stmts: Vec<StmtId>) -> Option<TestAndSet> {
        let sets: Vec<Set> = stmts.iter().filter_map(|&stmt| self.set(stmt)).collect();
        let first = sets.first()?;
        if sets.iter().any(|set| set.what != first.what) {
            return None;
        }
        let mut parts: FxHashMap<StmtId, Part> = FxHashMap::default();
        parts.extend(sets.iter().flat_map(|set| [(set.read, Part::Read), (set.write, Part::Set)]));
        let roots: FxHashSet<Root> = sets.iter().map(|set| set.root).collect();
        let read = self.view(first.read)?;
        let mut comparisons: Vec<Comparison> = Vec::new();
        for &stmt in &stmts {
            let Some(view) = self.view(stmt).filter(|_| !parts.contains_key(&stmt)) else { continue };
            let is_of_roots = |access: &MemAccess| {
                let root = self.root(&view.operands()[access.address]);
                access.kind != AccessKind::Write && root.is_some_and(|root| roots.contains(&root))
            };
            if !view.accesses().iter().any(is_of_roots) {
                continue;
            }
            // All that reads such an object reads all of a place, and compares it.
            let own = self.comparisons(stmt, &view).filter(|_| view.form.spelling() == read.form.spelling())?;
            let is_there = |own: &Comparison| sets.iter().all(|set| self.is_constant_at(own.with, set.write));
            if !own.iter().all(is_there) {
                return None;
            }
            comparisons.extend(own.into_iter().filter(|own| !comparisons.contains(own)).collect::<Vec<_>>());
            parts.insert(stmt, Part::Test);
        }
        (comparisons.len() <= MOST_COMPARISONS).then_some(TestAndSet { parts, comparisons })
    }

    fn view(&self, stmt: StmtId) -> Option<View<'a>> {
        View::of(&self.module.forms, self.body, stmt)
    }

    fn root(&self, address: &Operand) -> Option<Root> {
        match self.provenance.address(address) {
            PointerValue::Pointer { root, .. } => Some(root),
            _ => None,
        }
    }

    /// The set that a write belongs to.
    fn set(&self, write: StmtId) -> Option<Set> {
        let view = self.view(write)?;
        let access = plain_access(&view).filter(|access| access.kind == AccessKind::Write)?;
        let &[address, value] = view.operands() else { return None };
        let (block, _) = self.cfg.place_of(write)?;
        let (&[above], &[join]) = (self.cfg.predecessors(block), self.cfg.successors(block)) else { return None };
        let edges = self.cfg.edges(above);
        let into = edges.iter().find(|edge| edge.target == block)?;
        if edges.len() != 2 || !edges.iter().any(|edge| edge.target == join) || join == block {
            return None;
        }
        let branch = self.cfg.terminator(above)?;
        let guard = self.view(branch)?.inst.guard?;
        let compare = self.last_write(above, branch, guard.reg)?;
        let (tested, with, comparison) = comparison(&self.view(compare)?)?;
        let read = self.last_write(above, compare, tested)?;
        let read_view = self.view(read)?;
        let read_access = plain_access(&read_view).filter(|access| access.kind == AccessKind::Read)?;
        let is_same_place = read_view.operands().get(1) == Some(&address)
            && (read_access.space, read_access.bytes) == (access.space, access.bytes);
        // What was read and compared decides whether the place is set, and nothing else.
        let is_gone = |reg: Reg| ![block, join].iter().any(|&next| self.liveness.is_live_in(next, reg));
        if !is_same_place || !is_gone(tested) || !is_gone(guard.reg) {
            return None;
        }
        let base = if let Operand::RegAddress(base, _) = address { Some(base) } else { None };
        self.only_between(above, read, branch, base, &[(tested, compare), (guard.reg, branch)])?;
        self.only_sets(block, join, write, base)?;
        let what = format!(
            "{} {comparison} {} {} {} {} {}",
            read_view.form.spelling(),
            self.constant_at(with, compare, MOST_STEPS)?,
            guard.negated,
            into.kind == EdgeKind::Taken,
            view.form.spelling(),
            self.constant_at(value, write, MOST_STEPS)?,
        );
        Some(Set { read, write, what, root: self.root(&address)? })
    }

    /// The last statement of a block before another that writes a register.
    fn last_write(&self, block: Block, before: StmtId, reg: Reg) -> Option<StmtId> {
        let stmts = self.cfg.statements(block);
        let end = stmts.iter().position(|&stmt| stmt == before)?;
        stmts[..end].iter().rev().copied().find(|&stmt| self.def_use.writes(stmt).contains(&reg))
    }

    /// Between two statements of a block nothing writes memory or the address, and registers are read by one statement only.
    fn only_between(
        &self,
        block: Block,
        first: StmtId,
        last: StmtId,
        base: Option<Reg>,
        readers: &[(Reg, StmtId)],
    ) -> Option<()> {
        let stmts = self.cfg.statements(block);
        let place = |wanted: StmtId| stmts.iter().position(|&stmt| stmt == wanted);
        if base.is_some_and(|base| self.def_use.writes(first).contains(&base)) {
            return None;
        }
        for &stmt in &stmts[place(first)? + 1..place(last)?] {
            let Some(view) = self.view(stmt) else { continue };
            let is_harmless = matches!(view.effect(), Some(Effect::Pure | Effect::Load));
            let writes_base = base.is_some_and(|base| self.def_use.writes(stmt).contains(&base));
            let reads = self.def_use.reads(stmt);
            let is_other_reader = readers.iter().any(|&(reg, reader)| reader != stmt && reads.contains(&reg));
            if !is_harmless || writes_base || is_other_reader {
                return None;
            }
        }
        Some(())
    }

    /// A block does nothing else than to write a place: what it computes is not needed after it, or was there before.
    fn only_sets(&self, block: Block, join: Block, write: StmtId, base: Option<Reg>) -> Option<()> {
        let stmts = self.cfg.statements(block);
        let end = stmts.iter().position(|&stmt| stmt == write)?;
        for (index, &stmt) in stmts.iter().enumerate().filter(|&(_, &stmt)| stmt != write) {
            let Some(view) = self.view(stmt) else { continue };
            let written = self.def_use.writes(stmt);
            if index < end && base.is_some_and(|base| written.contains(&base)) {
                return None;
            }
            let is_needed = written.iter().any(|&reg| self.liveness.is_live_in(join, reg));
            let is_nothing = match view.effect() {
                Some(Effect::Pure) => !is_needed && !view.writes_carry(),
                Some(Effect::Branch) => view.inst.guard.is_none(),
                Some(Effect::Load) => self.is_loaded_before(stmt, &view, block),
                _ => false,
            };
            if !is_nothing {
                return None;
            }
        }
        Some(())
    }

    /// Whether a register that is loaded has had the same value before, because the launch only reads the object.
    fn is_loaded_before(&self, stmt: StmtId, view: &View<'_>, block: Block) -> bool {
        let Some(access) = plain_access(view).filter(|access| access.space == AccessSpace::State(Space::Global)) else {
            return false;
        };
        let (&[Operand::Reg(target), address], true) = (view.operands(), self.pruned.contains(stmt, 0)) else {
            return false;
        };
        let Operand::RegAddress(base, _) = address else { return false };
        let is_alike = |&writer: &StmtId| {
            self.view(writer).is_some_and(|other| {
                other.inst.guard.is_none()
                    && other.form.spelling() == view.form.spelling()
                    && other.operands() == view.operands()
                    && self.is_defined_once_before(base, writer)
            })
        };
        let writers = self.def_use.writers(target);
        let is_above = |&writer: &StmtId| {
            self.cfg.block_of(writer).is_some_and(|above| self.dominators.strictly_dominates(above, block))
        };
        access.kind == AccessKind::Read
            && base != target
            && writers.iter().all(is_alike)
            && writers.iter().any(is_above)
    }

    /// What a read is compared with, if that is all that becomes of it.
    fn comparisons(&self, read: StmtId, view: &View<'_>) -> Option<Vec<Comparison>> {
        plain_access(view).filter(|access| access.kind == AccessKind::Read)?;
        let &[Operand::Reg(value), _] = view.operands() else { return None };
        let (block, place) = self.cfg.place_of(read)?;
        let mut found = Vec::new();
        for &stmt in &self.cfg.statements(block)[place + 1..] {
            if self.def_use.reads(stmt).contains(&value) {
                let (tested, with, spelling) = comparison(&self.view(stmt)?)?;
                if tested != value || with == Operand::Reg(value) {
                    return None;
                }
                self.constant_at(with, stmt, MOST_STEPS)?;
                found.push(Comparison { spelling, with });
            }
            if self.def_use.kills(stmt).contains(&value) {
                return Some(found);
            }
        }
        let is_needed = self.cfg.successors(block).iter().any(|&next| self.liveness.is_live_in(next, value));
        (!is_needed && !found.is_empty()).then_some(found)
    }

    fn is_constant_at(&self, operand: Operand, stmt: StmtId) -> bool {
        self.constant_at(operand, stmt, MOST_STEPS).is_some()
    }

    /// How an operand is computed, if only from numbers and parameters of the kernel: the same in all threads.
    fn constant_at(&self, operand: Operand, stmt: StmtId, steps: u32) -> Option<String> {
        match operand {
            Operand::Int(number) => Some(number.to_string()),
            Operand::Hex(number) => Some(format!("{number:#x}")),
            Operand::Reg(reg) if self.is_defined_once_before(reg, stmt) => {
                let &[writer] = self.def_use.writers(reg) else { return None };
                let view = self.view(writer)?;
                let [_, sources @ ..] = view.operands() else { return None };
                let is_param = |access: &MemAccess| access.space == AccessSpace::State(Space::Param);
                let from: Option<Vec<String>> = match view.effect()? {
                    Effect::Load if view.accesses().iter().all(is_param) => match sources {
                        [Operand::SymbolAddress(..)] => Some(vec![format!("{:?}", sources[0])]),
                        _ => None,
                    },
                    Effect::Pure if !view.reads_carry() && view.inst.guard.is_none() => {
                        sources.iter().map(|&source| self.constant_at(source, writer, steps.checked_sub(1)?)).collect()
                    }
                    _ => None,
                };
                let is_one = view.inst.guard.is_none() && view.writes().len() == 1;
                let text = format!("({} {})", view.form.spelling(), from?.join(" "));
                (is_one && text.len() < 500).then_some(text)
            }
            _ => None,
        }
    }

    /// Whether a register has one value, from before a statement on.
    fn is_defined_once_before(&self, reg: Reg, stmt: StmtId) -> bool {
        let &[writer] = self.def_use.writers(reg) else { return false };
        let (Some((above, at)), Some((block, place))) = (self.cfg.place_of(writer), self.cfg.place_of(stmt)) else {
            return false;
        };
        let is_argument = self.def_use.parameters().contains(&reg) || !self.function.is_entry();
        !is_argument && (self.dominators.strictly_dominates(above, block) || above == block && at < place)
    }
}

/// What is compared, with what, and how.
fn comparison(view: &View<'_>) -> Option<(Reg, Operand, String)> {
    match *view.operands() {
        [Operand::Reg(_), Operand::Reg(tested), with] if view.op() == Some(Op::Setp) && view.inst.guard.is_none() => {
            Some((tested, with, view.form.spelling().to_owned()))
        }
        _ => None,
    }
}

/// The one access of an instruction, if it is weak and not guarded, has 4 or 8 bytes, and says where it goes.
fn plain_access(view: &View<'_>) -> Option<MemAccess> {
    let accesses = view.accesses();
    let &[access] = &accesses[..] else { return None };
    let is_plain = matches!(access.space, AccessSpace::State(Space::Global | Space::Shared))
        && matches!(access.bytes, AccessBytes::Fixed(4 | 8))
        && matches!(view.effect(), Some(Effect::Load | Effect::Store))
        && (access.order, access.vector, access.is_async) == (Order::Weak, 1, false)
        && view.inst.guard.is_none();
    is_plain.then_some(access)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::racecheck::prune::Rule;

    /// How many accesses of a kernel read what they may set, set it, and test; nothing if these are like others.
    fn found(body: &str) -> Option<[usize; 3]> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n\
             .visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n, .param .u64 o)\n\
             {{\n.reg .b64 %d<9>; .reg .b32 %r<20>; .reg .pred %p<9>;\n\
             ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.param.u32 %r1, [n]; ld.param.u64 %d7, [o];\n\
             mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;\n\
             add.s64 %d6, %d7, %d3; add.s32 %r3, %r1, 1;\n{body}\nret;\n}}\n"
        );
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let module = parsed.module;
        let func = module.function("k").expect("the kernel is there");
        let pruned = Pruned::of(&module, func, Rule::Order(&FxHashSet::default()));
        let sets = TestAndSet::of(&module, func, &pruned)?;
        let count = |part| sets.parts.values().filter(|&&other| other == part).count();
        Some([Part::Read, Part::Set, Part::Test].map(count))
    }

    const READ: &str = "ld.global.u32 %r4, [%d4]; setp.gt.s32 %p1, %r4, -1; @%p1 bra next;";
    const SET: &str = "st.global.u32 [%d4], %r3;";

    #[test]
    fn a_place_that_is_tested_and_set() {
        let test = "ld.global.u32 %r5, [%d4]; setp.ne.s32 %p2, %r5, %r1; @%p2 bra end;";
        assert_eq!(found(&format!("{READ} {SET} next:")), Some([1, 1, 0]));
        assert_eq!(found(&format!("{test} {READ} {SET} next: end:")), Some([1, 1, 1]));
        // What is set is the same, however it is computed.
        let again = "ld.global.u32 %r6, [%d4+4]; setp.gt.s32 %p3, %r6, -1; @%p3 bra last; add.s32 %r7, %r1, 1; \
                     st.global.u32 [%d4+4], %r7; last:";
        assert_eq!(found(&format!("{READ} {SET} next: {again}")), Some([2, 2, 0]));
        // A register that is loaded again, from what is only read.
        let loaded = "ld.global.u32 %r9, [%d5+4];";
        assert_eq!(found(&format!("{loaded} {READ} {SET} {loaded} next: st.global.u32 [%d6], %r9;")), Some([1, 1, 0]));
    }

    #[test]
    fn what_only_looks_like_it() {
        // The value is needed besides, or what follows from the comparison is.
        assert_eq!(found(&format!("{READ} {SET} next: st.global.u32 [%d6], %r4;")), None);
        assert_eq!(found(&format!("{READ} {SET} mov.u32 %r8, 1; next: st.global.u32 [%d6], %r8;")), None);
        assert_eq!(found(&format!("{READ} {SET} st.global.u32 [%d6], 1; next:")), None);
        assert_eq!(found(&format!("{READ} {SET} bar.sync 0; next:")), None);
        // Threads set different values, or test for different ones, or set another place.
        assert_eq!(found(&format!("{READ} st.global.u32 [%d4], %r2; next:")), None);
        assert_eq!(found(&format!("{} {SET} next:", READ.replace("-1", "%r2"))), None);
        assert_eq!(found(&format!("{READ} st.global.u32 [%d4+4], %r3; next:")), None);
        assert_eq!(found(&format!("{READ} add.s64 %d4, %d4, 4; {SET} next:")), None);
        let other =
            "ld.global.u32 %r6, [%d4+4]; setp.gt.s32 %p3, %r6, 4; @%p3 bra last; st.global.u32 [%d4+4], %r3; last:";
        assert_eq!(found(&format!("{READ} {SET} next: {other}")), None);
        // Something is written between.
        let between = READ.replace("@%p1", "st.global.u32 [%d6], 1; @%p1");
        assert_eq!(found(&format!("{between} {SET} next:")), None);
        // The object is read otherwise, too, or in other sizes.
        assert_eq!(found(&format!("{READ} {SET} next: ld.global.u32 %r8, [%d4]; st.global.u32 [%d6], %r8;")), None);
        let wide = "ld.global.u64 %d8, [%d4]; setp.ne.s64 %p2, %d8, 0; @%p2 bra end;";
        assert_eq!(found(&format!("{wide} {READ} {SET} next: end:")), None);
        // A register that is loaded again, from what is written.
        let loaded = "ld.global.u32 %r9, [%d6+4];";
        assert_eq!(found(&format!("{loaded} {READ} {SET} {loaded} next: st.global.u32 [%d6], %r9;")), None);
    }
}
