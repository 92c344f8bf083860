//! Accesses that cannot race, as far as the text of a kernel says.
//!
//! - Those to objects that the kernel only reads, and to objects that it accesses only by strong operations of the scope of the
//!   device. Which objects are different is known at launch ([`Pruned::holds`]).
//! - Reads of a shared variable in barrier regions that do not write it, if all threads of a block come to the same barriers;
//!   and strong operations in regions that have no others of it.
//! - Reads by a thread that accesses the same bytes in the same basic block, with nothing between that orders: what races with
//!   one of both accesses races with the other.
//!
//! Where no reads are left, writes need not look who has read.
//!
//! An access is taken to stay in the object that its pointer was made from: whether it does is memcheck's question.

use ptx::analysis::{
    BarrierRegions, BlockScope, BlockUniformity, CallGraph, Cfg, DefUse, LaunchFacts, Liveness, PointerValue,
    Provenance, RegionInputs, Root, functions_with_barriers,
};
use ptx::ir::{FuncId, Function, Global, Guard, Module, Operand, Param, Stmt, StmtId, Variable};
use ptx::ops::Effect;
use ptx::synchronisation::Synchronisation;
use ptx::types::Space;
use ptx::view::{AccessBytes, AccessKind, AccessSpace, MemAccess, View};
use rewrite::ConstantSums;
use rustc_hash::{FxHashMap, FxHashSet};
use toolkit::{AllocationKind, LaunchView, Objects};

use super::record::{STRONG_BLOCK, STRONG_DEVICE};
use super::strength::kind;

/// Which accesses are left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule<'a> {
    /// Those that cannot race.
    Races,
    /// Those whose order does not matter to anybody. Strong operations are accesses like others here, except for these
    /// instructions: among each other they leave the same behind in any order.
    Order(&'a FxHashSet<StmtId>),
}

impl Rule<'_> {
    /// Whether an access needs no order among others like it: for races, if it is as strong as this.
    fn is_settled(self, access: &Accessed, least: u32) -> bool {
        match self {
            Self::Races => kind(&access.access) >= least,
            Self::Order(instructions) => instructions.contains(&access.stmt),
        }
    }
}

/// What is left out of a kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pruned {
    /// The accesses: instruction, and which of its accesses.
    accesses: FxHashSet<(StmtId, usize)>,
    /// Writes for which reads by the same thread before them are left out.
    updates: FxHashSet<StmtId>,
    /// Writes to what nobody reads meanwhile, but for reads that are left out.
    unread: FxHashSet<(StmtId, usize)>,
    /// Objects whose accesses are left out, or which nobody reads, each with those that it must not be.
    apart: Vec<(Object, Vec<Object>)>,
}

/// An object of global memory that a kernel accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Object {
    /// What a parameter points into.
    Param {
        number: usize,
        offset: u32,
    },
    Variable(Global),
}

/// What an object is in a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Memory {
    Variable(Global),
    /// An allocation, which no variable is in.
    Bytes {
        start: u64,
        end: u64,
    },
}

impl Memory {
    fn is_apart_from(self, other: Self) -> bool {
        match (self, other) {
            (Self::Variable(one), Self::Variable(other)) => one != other,
            (Self::Bytes { start, end }, Self::Bytes { start: other_start, end: other_end }) => {
                end <= other_start || other_end <= start
            }
            _ => true,
        }
    }
}

/// Where an access goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    Global(Object),
    /// A shared variable; nothing for those whose size the launch says, which are one.
    Shared(Option<Root>),
    SomeGlobal,
    SomeShared,
    Anywhere,
    /// Memory of the thread.
    Own,
}

/// An access of the kernel.
#[derive(Clone, Copy, Debug)]
struct Accessed {
    stmt: StmtId,
    index: usize,
    access: MemAccess,
    place: Place,
}

impl Accessed {
    fn writes(&self) -> bool {
        self.access.kind != AccessKind::Read
    }

    fn key(&self) -> (StmtId, usize) {
        (self.stmt, self.index)
    }
}

impl Pruned {
    /// What can be left out of a function as it is now.
    pub(crate) fn of(module: &Module, func: FuncId, rule: Rule<'_>) -> Self {
        let function = &module.functions[func];
        let mut pruned = Self::default();
        if let Rule::Races = rule {
            pruned.repeated(module, function);
        }
        if !function.is_entry() {
            return pruned;
        }
        let calls = CallGraph::of(module);
        if calls.may_call_unknown(func) || calls_access_memory(module, &calls, func) {
            return pruned;
        }
        let Some(accesses) = accesses(module, func) else { return pruned };
        pruned.objects(&accesses, rule);
        pruned.regions(module, func, &calls, &accesses, rule);
        pruned
    }

    /// Whether an access is left out.
    pub(crate) fn contains(&self, stmt: StmtId, index: usize) -> bool {
        self.accesses.contains(&(stmt, index))
    }

    /// Whether a write stands for reads before it, too.
    pub(super) fn is_update(&self, stmt: StmtId) -> bool {
        self.updates.contains(&stmt)
    }

    /// Whether nobody but those whose reads are left out reads what an access writes, before it is ordered with that.
    pub(crate) fn is_unread(&self, stmt: StmtId, index: usize) -> bool {
        self.unread.contains(&(stmt, index))
    }

    /// Whether the objects of a launch are as different as their accesses need.
    pub(crate) fn holds(&self, launch: &LaunchView<'_>, objects: &Objects) -> bool {
        let memory = |object: Object| match object {
            Object::Variable(variable) => Some(Memory::Variable(variable)),
            Object::Param { number, offset } => {
                let found = objects.pointed_to(launch.pointer(number, offset)?)?;
                let is_variable = matches!(found.kind, AllocationKind::Variable(_));
                (!is_variable).then(|| Memory::Bytes { start: found.start, end: found.start + found.bytes })
            }
        };
        self.apart.iter().all(|(object, others)| {
            let Some(mine) = memory(*object) else { return false };
            others.iter().all(|&other| memory(other).is_some_and(|other| mine.is_apart_from(other)))
        })
    }

    /// Whether others have to know that an access reads.
    fn is_left_read(&self, access: &Accessed) -> bool {
        access.access.kind != AccessKind::Write && !self.accesses.contains(&access.key())
    }

    /// Objects that are only read, only accessed by strong operations, or only written.
    fn objects(&mut self, accesses: &[Accessed], rule: Rule<'_>) {
        let is_unknown = |access: &&Accessed| matches!(access.place, Place::SomeGlobal | Place::Anywhere);
        let mut unknown = accesses.iter().filter(is_unknown);
        let (is_any, is_any_written) = (unknown.clone().next().is_some(), unknown.any(Accessed::writes));
        if is_any_written {
            return;
        }
        let of = |object: Object| accesses.iter().filter(move |access| access.place == Place::Global(object));
        let mut all: Vec<Object> = Vec::new();
        for access in accesses {
            if let Place::Global(object) = access.place
                && !all.contains(&object)
            {
                all.push(object);
            }
        }
        let written: Vec<Object> = all.iter().copied().filter(|&object| of(object).any(Accessed::writes)).collect();
        for &object in &all {
            if !written.contains(&object) {
                self.accesses.extend(of(object).map(Accessed::key));
                self.apart.push((object, written.clone()));
            } else if !is_any && of(object).all(|access| rule.is_settled(access, STRONG_DEVICE)) {
                self.accesses.extend(of(object).map(Accessed::key));
                self.apart.push((object, all.iter().copied().filter(|&other| other != object).collect()));
            }
        }
        if is_any {
            return;
        }
        let is_read = |&object: &Object| of(object).any(|access| self.is_left_read(access));
        let (read, unread): (Vec<Object>, Vec<Object>) = all.into_iter().partition(is_read);
        for object in unread.into_iter().filter(|object| written.contains(object)) {
            self.unread.extend(of(object).filter(|access| access.writes()).map(Accessed::key));
            self.apart.push((object, read.clone()));
        }
    }

    /// Shared variables between barriers.
    fn regions(&mut self, module: &Module, func: FuncId, calls: &CallGraph, accesses: &[Accessed], rule: Rule<'_>) {
        let function = &module.functions[func];
        let Some(body) = &function.body else { return };
        if !accesses.iter().any(|access| matches!(access.place, Place::Shared(_))) {
            return;
        }
        let cfg = Cfg::of(&module.forms, function);
        let def_use = DefUse::of(&module.forms, function);
        let uniformity =
            BlockUniformity::of(module, function, &cfg, &def_use, &LaunchFacts::default(), BlockScope::Threads);
        // Threads that come to different barriers may be in different regions at the same time.
        let is_divergent = cfg.blocks().any(|block| {
            let waits = |&stmt: &StmtId| {
                View::of(&module.forms, body, stmt).is_some_and(|view| {
                    match view.synchronisation() {
                        // Not all threads come to it.
                        Some(Synchronisation::Barrier { count: Some(_), .. }) => true,
                        Some(Synchronisation::Barrier { .. }) => {
                            view.inst.guard.is_some() || uniformity.is_divergent(block)
                        }
                        _ => false,
                    }
                })
            };
            cfg.statements(block).iter().any(waits)
        });
        if is_divergent {
            return;
        }
        let liveness = Liveness::of(&cfg, &def_use);
        let with_barriers = functions_with_barriers(module, calls);
        let inputs =
            RegionInputs { cfg: &cfg, def_use: &def_use, liveness: &liveness, calls, with_barriers: &with_barriers };
        let regions = BarrierRegions::of(module, func, inputs);
        if !regions.is_exact() || regions.iter().any(|region| regions.facts(region).calls_barrier) {
            return;
        }
        let mut by_stmt: FxHashMap<StmtId, Vec<&Accessed>> = FxHashMap::default();
        for access in accesses.iter().filter(|access| may_be_shared(access.place)) {
            by_stmt.entry(access.stmt).or_default().push(access);
        }
        // Asynchronous copies go on until somebody waits for them, whatever barriers come before that.
        let is_copied = |access: &Accessed| {
            let is_written = |other: &&Accessed| other.writes() || access.writes();
            let mut copies = accesses.iter().filter(|other| other.access.is_async).filter(is_written);
            copies.any(|other| may_overlap(access.place, other.place))
        };
        let (mut racing, mut read) = (FxHashSet::default(), FxHashSet::default());
        for region in regions.iter() {
            let pieces = regions.pieces(&cfg, region);
            let statements = pieces.iter().flat_map(|piece| &cfg.statements(piece.block)[piece.start..piece.end]);
            let mut inside: Vec<&Accessed> =
                statements.filter_map(|stmt| by_stmt.get(stmt)).flatten().copied().collect();
            inside.dedup_by_key(|access| access.key());
            let is_strong = |access: &&Accessed| rule.is_settled(access, STRONG_BLOCK);
            let may_race = |access: &Accessed| {
                let same = inside.iter().filter(|other| may_overlap(access.place, other.place));
                let (mut writes, mut weak) = (access.writes(), !is_strong(&access));
                for other in same {
                    writes |= other.writes();
                    weak |= !is_strong(other);
                }
                writes && weak || is_copied(access)
            };
            racing.extend(inside.iter().filter(|access| may_race(access)).map(|access| access.key()));
            let may_be_read = |access: &Accessed| {
                let mut reads = inside.iter().filter(|other| self.is_left_read(other));
                reads.any(|other| may_overlap(access.place, other.place)) || is_copied(access)
            };
            read.extend(inside.iter().filter(|access| may_be_read(access)).map(|access| access.key()));
        }
        let free = accesses.iter().filter(|access| matches!(access.place, Place::Shared(_)));
        let is_unread = |access: &&Accessed| access.writes() && !read.contains(&access.key());
        self.unread.extend(free.clone().filter(is_unread).map(Accessed::key));
        self.accesses.extend(free.map(Accessed::key).filter(|key| !racing.contains(key)));
    }

    /// Reads by a thread that also accesses the same bytes before or after it, in one basic block.
    fn repeated(&mut self, module: &Module, function: &Function) {
        let Some(body) = &function.body else { return };
        let mut earlier: Vec<Earlier> = Vec::new();
        let mut sums = ConstantSums::default();
        for stmt in body.iter() {
            if matches!(body.stmt(stmt), Stmt::Label(_)) {
                earlier.clear();
                sums.clear();
            }
            let Some(view) = View::of(&module.forms, body, stmt) else { continue };
            let guard = view.inst.guard;
            let accesses = view.accesses();
            let is_plain = accesses.len() == 1 && kind(&accesses[0]) == 0 && !view.is_collective();
            if let (true, AccessBytes::Fixed(bytes)) =
                (is_plain, accesses.first().map_or(AccessBytes::Unknown, |access| access.bytes))
            {
                let access = accesses[0];
                let operand = view.operands()[access.address];
                let address = sums.resolve(operand).map_or(operand, |(base, offset)| Operand::RegAddress(base, offset));
                let now = Earlier { stmt, address, guard, bytes, access };
                if access.kind == AccessKind::Read && earlier.iter().any(|before| before.covers(&now)) {
                    self.accesses.insert((stmt, 0));
                } else {
                    if access.kind == AccessKind::Write {
                        // Reads before it are as ordered as it is.
                        let covered = earlier
                            .iter()
                            .filter(|before| before.access.kind == AccessKind::Read && now.covers(before))
                            .map(|before| (before.stmt, 0));
                        let before = self.accesses.len();
                        self.accesses.extend(covered);
                        if self.accesses.len() > before {
                            self.updates.insert(stmt);
                        }
                    }
                    earlier.push(now);
                }
            } else if !accesses.is_empty() && accesses.iter().any(|access| kind(access) != 0) {
                earlier.clear();
            }
            let ends = matches!(view.effect(), Some(Effect::Branch | Effect::Call | Effect::Return | Effect::Exit))
                || view.effect().is_none()
                || view.synchronisation().is_some();
            if ends || earlier.len() > MOST_EARLIER {
                earlier.clear();
            }
            view.for_each_write(|reg| {
                earlier.retain(|before| {
                    !matches!(before.address, Operand::RegAddress(base, _) if base == reg)
                        && before.guard.is_none_or(|guard| guard.reg != reg)
                });
            });
            sums.pass(&view);
        }
    }
}

/// An access of a basic block whose address has not changed since.
struct Earlier {
    stmt: StmtId,
    address: Operand,
    guard: Option<Guard>,
    bytes: u32,
    access: MemAccess,
}

/// More accesses than this are not compared with each other.
const MOST_EARLIER: usize = 64;

impl Earlier {
    /// Whether it accesses all bytes of another access, in the same threads.
    fn covers(&self, other: &Self) -> bool {
        self.address == other.address
            && self.access.space == other.access.space
            && self.bytes >= other.bytes
            && (self.guard.is_none() || self.guard == other.guard)
    }
}

fn may_be_shared(place: Place) -> bool {
    matches!(place, Place::Shared(_) | Place::SomeShared | Place::Anywhere)
}

/// Whether two accesses, both perhaps to shared memory, may be to the same bytes.
fn may_overlap(one: Place, other: Place) -> bool {
    match (one, other) {
        (Place::Shared(one), Place::Shared(other)) => one == other,
        _ => true,
    }
}

/// Whether functions that a kernel calls access memory of others.
fn calls_access_memory(module: &Module, calls: &CallGraph, kernel: FuncId) -> bool {
    calls.reachable_from(kernel).iter().filter(|&func| func != kernel).any(|func| {
        let Some(body) = &module.functions[func].body else { return false };
        body.iter().filter_map(|id| View::of(&module.forms, body, id)).any(|view| {
            let is_own = |access: &MemAccess| matches!(access.space, AccessSpace::State(Space::Local | Space::Param));
            view.effect().is_none() || !view.accesses().iter().all(is_own)
        })
    })
}

/// All accesses of a kernel; nothing if one is not known.
fn accesses(module: &Module, func: FuncId) -> Option<Vec<Accessed>> {
    let function = &module.functions[func];
    let body = function.body.as_ref()?;
    let provenance = Provenance::of(module, function);
    let mut all = Vec::new();
    for stmt in body.iter() {
        let Some(view) = View::of(&module.forms, body, stmt) else { continue };
        if view.op().is_none() || view.effect() == Some(Effect::SurfaceStore) {
            return None;
        }
        for (index, access) in view.accesses().into_iter().enumerate() {
            let place = match access.space {
                AccessSpace::State(Space::Local | Space::Param) => Place::Own,
                space => place(module, function, space, &provenance.address(&view.operands()[access.address])),
            };
            if place != Place::Own {
                all.push(Accessed { stmt, index, access, place });
            }
        }
    }
    Some(all)
}

/// Where an access goes, as far as its pointer says.
fn place(module: &Module, function: &Function, space: AccessSpace, pointer: &PointerValue) -> Place {
    let unknown = match space {
        AccessSpace::State(Space::Global | Space::Const) => Place::SomeGlobal,
        AccessSpace::State(Space::Shared) => Place::SomeShared,
        _ => Place::Anywhere,
    };
    let PointerValue::Pointer { root, .. } = *pointer else { return unknown };
    let of_variable = |variable: &Variable, global: Option<Global>| match (variable.space, global) {
        (Space::Shared, _) => Place::Shared(variable.dimensions.iter().all(Option::is_some).then_some(root)),
        (Space::Local | Space::Param, _) => Place::Own,
        (_, Some(global)) => Place::Global(Object::Variable(global)),
        _ => unknown,
    };
    match root {
        Root::Param { var, offset, .. } => {
            let number = function.params.iter().position(|param| *param == Param::Var(var));
            match (number, u32::try_from(offset)) {
                (Some(number), Ok(offset)) if space != AccessSpace::State(Space::Shared) => {
                    Place::Global(Object::Param { number, offset })
                }
                _ => unknown,
            }
        }
        Root::Global(global) => of_variable(&module.globals[global], Some(global)),
        Root::Var(var) => of_variable(&function.vars[var], None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The accesses that stay of a kernel, by their instructions.
    fn staying(body: &str) -> Vec<String> {
        those(body, |pruned, key| !pruned.contains(key.0, key.1))
    }

    /// The writes to what nobody reads.
    fn unread(body: &str) -> Vec<String> {
        those(body, |pruned, key| pruned.is_unread(key.0, key.1))
    }

    /// The accesses of a kernel of which something holds, by their instructions.
    fn those(body: &str, holds: impl Fn(&Pruned, (StmtId, usize)) -> bool) -> Vec<String> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n\
             {{\n.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\n.shared .align 4 .b8 tile[64];\n\
             .shared .align 4 .b8 other[64];\nld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.param.u32 %r1, [n];\n\
             mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;\n\
             mov.u32 %r3, tile; mad.lo.u32 %r3, %r2, 4, %r3;\n{body}\nret;\n}}\n"
        );
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let module = parsed.module;
        let func = module.function("k").expect("the kernel is there");
        let pruned = Pruned::of(&module, func, Rule::Races);
        let body = module.functions[func].body.as_ref().expect("it has a body");
        let is_looked_at = |view: &View<'_>| {
            let spaces = [Space::Global, Space::Shared].map(AccessSpace::State);
            view.accesses().iter().any(|access| spaces.contains(&access.space) || access.space == AccessSpace::Generic)
        };
        let ids = body.iter().filter(|&id| View::of(&module.forms, body, id).is_some_and(|view| is_looked_at(&view)));
        let text = |id| ptx::print_stmt(&module, &module.functions[func], body, id).trim().replace('\t', "");
        ids.filter(|&id| holds(&pruned, (id, 0))).map(text).collect()
    }

    #[test]
    fn objects_that_are_only_read() {
        assert_eq!(staying("ld.global.u32 %r4, [%d4]; st.global.u32 [%d5], %r4;"), ["st.global.u32 [%d5], %r4;"]);
        let written = "ld.global.u32 %r4, [%d4]; st.global.u32 [%d4+4], %r4;";
        assert_eq!(staying(written).len(), 2);
        let anywhere = "ld.global.u64 %d6, [%d4]; st.global.u32 [%d6], %r2;";
        assert_eq!(staying(anywhere).len(), 2);
    }

    #[test]
    fn objects_that_are_only_accessed_by_atomics() {
        assert_eq!(staying("red.global.add.u32 [%d1], 1; red.global.add.u32 [%d1], 2;").len(), 0);
        assert_eq!(staying("red.cta.global.add.u32 [%d1], 1;").len(), 1);
        assert_eq!(staying("red.global.add.u32 [%d1], 1; ld.global.u32 %r4, [%d4];").len(), 2);
    }

    #[test]
    fn shared_variables_between_barriers() {
        let read = "ld.shared.u32 %r4, [tile+4];";
        let barrier = "bar.sync 0;";
        let write = "st.shared.u32 [%r3], %r2;";
        assert_eq!(staying(&format!("{write} {barrier} {read}")), [write]);
        assert_eq!(staying(&format!("{write} {read}")).len(), 2);
        // Another variable.
        assert_eq!(staying(&format!("{write} ld.shared.u32 %r4, [other];")), [write]);
        // Threads that come to different barriers may be in both regions.
        let divergent = format!(
            "setp.lt.u32 %p1, %r2, 32; @%p1 bra first; {barrier} {read} bra both; first: {write} {barrier} both: {barrier}"
        );
        assert_eq!(staying(&divergent).len(), 2);
        // Around a loop, the read comes before the write.
        let around = format!("again: {write} {barrier} {read} setp.ne.u32 %p1, %r1, %r4; @%p1 bra again;");
        assert_eq!(staying(&around).len(), 2);
        let twice = format!("again: {write} {barrier} {read} {barrier} setp.ne.u32 %p1, %r1, 0; @%p1 bra again;");
        assert_eq!(staying(&twice), [write]);
    }

    #[test]
    fn writes_to_what_nobody_reads() {
        let write = "st.global.u32 [%d5], %r4;";
        assert_eq!(unread(&format!("ld.global.u32 %r4, [%d4]; {write}")), [write]);
        assert_eq!(unread(&format!("ld.global.u32 %r4, [%d5]; {write}")), [write]);
        assert!(unread(&format!("ld.global.u32 %r4, [%d5+4]; {write}")).is_empty());
        assert!(unread(&format!("atom.global.add.u32 %r4, [%d2], 1; {write}")).is_empty());
        // The pointer may be to what is written.
        assert!(unread(&format!("ld.global.u64 %d6, [%d4]; ld.global.u32 %r4, [%d6]; {write}")).is_empty());
        let (read, barrier, write) = ("ld.shared.u32 %r4, [tile+4];", "bar.sync 0;", "st.shared.u32 [%r3], %r2;");
        assert_eq!(unread(&format!("{write} {barrier} {read}")), [write]);
        assert!(unread(&format!("{write} {read}")).is_empty());
        assert!(
            unread(&format!("again: {write} {barrier} {read} setp.ne.u32 %p1, %r1, %r4; @%p1 bra again;")).is_empty()
        );
        // A copy may read it after the barrier.
        let copy = "cp.async.bulk.global.shared::cta.bulk_group [%d1], [tile], 16;";
        assert_eq!(unread(&format!("{copy} {barrier} {write}")), [copy]);
    }

    #[test]
    fn reads_of_what_the_thread_also_accesses() {
        let (read, write) = ("ld.global.u32 %r4, [%d4];", "st.global.u32 [%d4], %r4;");
        let add = "add.u32 %r4, %r4, 1;";
        assert_eq!(staying(&format!("{read} {add} {write}")), [write]);
        assert_eq!(staying(&format!("{write} {read}")), [write]);
        let again = "add.s64 %d6, %d4, -8; ld.global.u32 %r4, [%d6+8];";
        assert_eq!(staying(&format!("{again} {add} {write}")), [write]);
        let changed = "add.s64 %d6, %d4, -8; add.s64 %d4, %d4, 4; ld.global.u32 %r4, [%d6+8];";
        assert_eq!(staying(&format!("{changed} {add} {write}")).len(), 2);
        assert_eq!(staying(&format!("{read} {add} bar.warp.sync -1; {write}")).len(), 2);
        assert_eq!(staying(&format!("{read} add.s64 %d4, %d4, 4; {write}")).len(), 2);
        assert_eq!(staying(&format!("{read} setp.eq.u32 %p1, %r4, 0; @%p1 {write}")).len(), 2);
        assert_eq!(staying(&format!("{read} {add} here: {write}")).len(), 2);
    }
}
